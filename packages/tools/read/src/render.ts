import type { BlobRef } from '@cordage/core/message'
import { escapeFileName, type ToolContent } from '@cordage/core/tool'

export type ReadValue =
  | {
      readonly kind: 'text'
      readonly path: string
      /** The number of the first line. */
      readonly offset: number
      readonly lines: readonly string[]
      /** Numbers of lines that are shown only in part. */
      readonly cutLines: readonly number[]
      /** Absent where a huge file was not read to its end. */
      readonly totalLines?: number
    }
  | { readonly kind: 'image'; readonly path: string; readonly blob: BlobRef }
  | {
      readonly kind: 'pdf'
      readonly path: string
      readonly pages: readonly { readonly page: number; readonly text: string }[]
      readonly totalPages: number
    }

/** The first line says what is shown and what is not; the content cannot change it. */
export function renderRead(value: ReadValue): string | ToolContent[] {
  if (value.kind === 'text') return renderText(value)
  if (value.kind === 'pdf') return renderPdf(value)
  const { blob, path } = value
  const text = `${escapeFileName(path)}: ${blob.mediaType}, ${blob.bytes} bytes`
  return [
    { type: 'text', text },
    { type: 'image', blob },
  ]
}

function renderText(value: ReadValue & { kind: 'text' }): string {
  const { offset, lines, cutLines, totalLines } = value
  const name = escapeFileName(value.path)
  if (lines.length === 0) return `${name} is empty`
  const last = offset + lines.length - 1
  const all = totalLines === undefined ? 'many more' : String(totalLines)
  const more = totalLines === last ? '' : `; go on with offset ${last + 1}`
  const cut = cutLines.length > 0 ? `; only the beginning of line ${cutLines.join(', ')}` : ''
  const numbered = lines.map((line, index) => `${offset + index}\t${line}`)
  return [`${name}, lines ${offset}-${last} of ${all}${more}${cut}`, ...numbered].join('\n')
}

function renderPdf({ path, pages, totalPages }: ReadValue & { kind: 'pdf' }): string {
  const first = pages[0]?.page ?? 1
  const last = pages.at(-1)?.page ?? first
  const more = last < totalPages ? `; go on with offset ${last + 1}` : ''
  const title = `${escapeFileName(path)}, pages ${first}-${last} of ${totalPages}${more}`
  return [title, ...pages.map(({ page, text }) => `[page ${page}]\n${text}`)].join('\n')
}
