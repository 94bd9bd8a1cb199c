import type { FileStat, Target } from '@cordage/core/environment'
import { environmentError } from '@cordage/core/environment'
import { definePlugin } from '@cordage/core/kernel'
import { imageSize } from '@cordage/core/message'
import { defineTool, detectMedia, type ImageType, type ToolRun } from '@cordage/core/tool'
import { resolve } from 'node:path'
import { z } from 'zod'
import { Coverage } from './coverage.ts'
import { fail } from './errors.ts'
import { readPdf } from './pdf.ts'
import { windowOf, windowOfLarge } from './read-text.ts'
import { renderRead, type ReadValue } from './render.ts'
import type { StreamedWindow } from './stream-lines.ts'

const count = (value: number, what: string) => {
  return z.number().int().min(1).default(value).describe(what)
}

const config = z.strictObject({
  maxLines: count(2_000, 'Lines of one call, unless it says otherwise.'),
  maxLineChars: count(2_000, 'Longer lines are cut.'),
  // Stays under what the pipeline shows of a result, so that a window is never cut again.
  maxChars: count(28_000, 'Characters of one call.'),
  maxPages: count(20, 'Pages of a PDF in one call.'),
  maxImageBytes: count(5 * 1024 * 1024, 'Larger images are refused.'),
  maxPdfBytes: count(32 * 1024 * 1024, 'Larger PDFs are refused.'),
})

type ReadConfig = z.output<typeof config>

const parameters = z.strictObject({
  file_path: z.string().min(1),
  offset: z.number().int().min(1).optional(),
  limit: z.number().int().min(1).optional(),
})

type Arguments = z.output<typeof parameters>

/** Larger texts are read piece by piece. */
const MAX_WHOLE_BYTES = 4 * 1024 * 1024
const HEAD_BYTES = 8_192

export default definePlugin({
  name: '@cordage/tool-read',
  inject: ['tools'],
  config,
  apply: (ctx, settings) => {
    ctx.tools.register(ctx, readTool(settings))
  },
})

function readTool(settings: ReadConfig) {
  const coverage = new Coverage()
  return defineTool<Arguments, ReadValue>({
    name: 'read',
    description:
      'Shows a file: text as `number<tab>line` (the number is not part of it), images, the text of ' +
      `PDFs. offset (from 1) and limit select lines, of PDFs pages; default ${settings.maxLines} lines.`,
    parameters,
    effects: ({ file_path }, { cwd }) => [{ kind: 'fs:read', path: resolve(cwd, file_path) }],
    execute: (args, run) => readFile(args, run, settings, coverage),
    render: renderRead,
    concurrent: () => true,
    idempotent: true,
    title: ({ file_path }) => `read ${file_path}`,
  })
}

async function readFile(
  args: Arguments,
  run: ToolRun,
  settings: ReadConfig,
  coverage: Coverage,
): Promise<ReadValue> {
  await using target = await run.fs.forRead(args.file_path)
  const { path } = target
  const stat = await target.stat()
  if (!stat) throw environmentError('FILE_NOT_FOUND', { path })
  if (stat.kind === 'directory') throw fail('READ_DIRECTORY', { path })
  const large = stat.size > MAX_WHOLE_BYTES
  const start = await target.read(large ? { start: 0, end: HEAD_BYTES } : undefined)
  const media = detectMedia(start.bytes)
  // Awaited here: the target is released when this function returns.
  if (media === 'application/pdf') return await readPdfFile(args, target, stat, run, settings)
  if (media) return await readImage(media, target, stat, run, settings)
  const { offset = 1, limit = settings.maxLines } = args
  const limits = { ...settings, offset, limit, maxWholeBytes: MAX_WHOLE_BYTES }
  const window = large
    ? await windowOfLarge(target, stat, start.bytes, limits)
    : windowOf(path, start, limits)
  const { atLeast, lines } = window
  if (lines.length === 0 && offset > 1) {
    throw fail('READ_PAST_END', {
      path,
      count: atLeast,
      unit: atLeast === 1 ? 'line' : 'lines',
      offset,
    })
  }
  markSeen(path, offset, window, run, coverage)
  const { cutLines, totalLines } = window
  const total = totalLines === undefined ? {} : { totalLines }
  return { kind: 'text', path, offset, lines, cutLines, ...total }
}

function markSeen(
  path: string,
  offset: number,
  { lines, cutLines, totalLines, version }: StreamedWindow,
  run: ToolRun,
  coverage: Coverage,
): void {
  const whole = cutLines[0] ?? offset + lines.length
  const upTo = coverage.extend(`${run.sessionId}\0${path}`, version, offset, whole - 1)
  run.seen.set(path, { version, whole: totalLines !== undefined && upTo >= totalLines })
}

async function readImage(
  mediaType: ImageType,
  target: Target,
  { size }: FileStat,
  run: ToolRun,
  { maxImageBytes: max }: ReadConfig,
): Promise<ReadValue> {
  const { path } = target
  if (size > max) throw fail('READ_TOO_LARGE', { path, what: 'an image', size, max })
  const { bytes, version } = await target.read()
  const hash = await run.putBlob(bytes)
  run.seen.set(path, { version, whole: true })
  const blob = { hash, bytes: bytes.length, mediaType, ...imageSize(bytes) }
  return { kind: 'image', path, blob }
}

async function readPdfFile(
  args: Arguments,
  target: Target,
  { size }: FileStat,
  run: ToolRun,
  { maxPdfBytes: max, maxPages, maxChars }: ReadConfig,
): Promise<ReadValue> {
  const { path } = target
  if (size > max) throw fail('READ_TOO_LARGE', { path, what: 'a PDF', size, max })
  const { bytes, version } = await target.read()
  const { offset = 1, limit = maxPages } = args
  const { pages, totalPages } = await readPdf(path, bytes, { offset, limit, maxChars })
  run.seen.set(path, { version, whole: false })
  return { kind: 'pdf', path, pages, totalPages }
}
