import { reasonOf } from '@cordage/core/kernel'
import type { getDocumentProxy } from 'unpdf'
import { fail } from './errors.ts'

export interface PdfPages {
  readonly pages: readonly { readonly page: number; readonly text: string }[]
  readonly totalPages: number
}

export interface PageLimits {
  /** The first page, from 1. */
  readonly offset: number
  readonly limit: number
  readonly maxChars: number
}

/** The text of some pages. Throws `READ_PDF_FAILED`, `READ_PAST_END`. */
export async function readPdf(path: string, bytes: Uint8Array, limits: PageLimits) {
  const { getDocumentProxy } = await import('unpdf')
  // A plain copy: the engine takes the buffer away and refuses Node's own kind.
  const document = await orFail(path, getDocumentProxy(Uint8Array.from(bytes), { verbosity: 0 }))
  try {
    const totalPages = document.numPages
    const { offset } = limits
    if (offset > totalPages) {
      throw fail('READ_PAST_END', { path, count: totalPages, unit: 'pages', offset })
    }
    return { totalPages, pages: await orFail(path, readPages(document, limits)) }
  } finally {
    await document.cleanup()
  }
}

type PdfDocument = Awaited<ReturnType<typeof getDocumentProxy>>

async function readPages(document: PdfDocument, { offset, limit, maxChars }: PageLimits) {
  const pages: { page: number; text: string }[] = []
  let room = maxChars
  const last = Math.min(document.numPages, offset + limit - 1)
  for (let page = offset; page <= last && room > 0; page += 1) {
    const text = (await readPage(document, page)).slice(0, maxChars)
    if (pages.length > 0 && text.length > room) break
    pages.push({ page, text })
    room -= text.length
  }
  return pages
}

async function readPage(document: PdfDocument, number: number): Promise<string> {
  const page = await document.getPage(number)
  const { items } = await page.getTextContent()
  const text = items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : ''))
  return text.join('').trim()
}

async function orFail<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw fail('READ_PDF_FAILED', { path, reason: reasonOf(error) }, { cause: error })
  }
}
