import type { FileStat, Target } from '@cordage/core/environment'
import { decodeText } from '@cordage/core/tool'
import { fail } from './errors.ts'
import { streamWindow, type StreamedWindow } from './stream-lines.ts'
import { splitLines, WindowCollector, type WindowLimits } from './window.ts'

/** A window of a file that is in memory. Throws `READ_BINARY`. */
export function windowOf(
  path: string,
  content: { bytes: Uint8Array; version: string },
  limits: WindowLimits,
): StreamedWindow {
  const { bytes, version } = content
  const file = decodeText(bytes)
  if (!file) throw fail('READ_BINARY', { path, size: bytes.length })
  const lines = splitLines(file.text)
  const window = new WindowCollector(limits)
  for (const [index, line] of lines.entries()) window.add(index + 1, line)
  return { ...window.result(), totalLines: lines.length, atLeast: lines.length, version }
}

/** A window of a file too large for that. Throws `READ_BINARY`, `READ_TOO_LARGE` for UTF-16. */
export async function windowOfLarge(
  target: Target,
  { size }: FileStat,
  head: Uint8Array,
  limits: WindowLimits & { maxWholeBytes: number },
): Promise<StreamedWindow> {
  const { path } = target
  const sample = decodeText(head)
  if (!sample) throw fail('READ_BINARY', { path, size })
  if (sample.encoding === 'utf-8') return streamWindow(target, size, limits)
  throw fail('READ_TOO_LARGE', { path, what: 'UTF-16 text', size, max: limits.maxWholeBytes })
}
