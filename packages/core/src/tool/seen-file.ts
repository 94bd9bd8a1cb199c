import { environmentError, type Target } from '../environment/index.ts'
import { defineErrors } from '../error/index.ts'
import { decodeText, encodeText, type TextFile } from './text-file.ts'
import type { ToolRun } from './tool.ts'

const fail = defineErrors('core-tool-files', {
  FILE_NOT_READ: {
    message: 'Read {path} before changing it: {reason}. Nothing was changed.',
  },
  FILE_NOT_TEXT: {
    message: '{path} is not text that could be written back unchanged. Nothing was changed.',
  },
})

/** A text file that is still what the model last saw of it. */
export interface SeenText {
  readonly file: TextFile
  readonly version: string
  /** The model has seen all of it. */
  readonly whole: boolean
}

/** What the model saw of an existing file. Throws `FILE_NOT_READ`. */
export function requireSeen(run: ToolRun, path: string): { version: string; whole: boolean } {
  const seen = run.seen.get(path)
  if (!seen) throw fail('FILE_NOT_READ', { path, reason: 'it has not been read yet' })
  return seen
}

/** Like `requireSeen`, for a change that leaves nothing of the file. */
export function requireSeenWhole(run: ToolRun, path: string): { version: string } {
  const seen = requireSeen(run, path)
  const reason = 'only a part of it has been read; read the rest, or use edit'
  if (!seen.whole) throw fail('FILE_NOT_READ', { path, reason })
  return seen
}

/**
 * Reads a file in order to change it. Throws `FILE_NOT_FOUND`, `FILE_NOT_READ`, `FILE_STALE` and
 * `FILE_NOT_TEXT`.
 */
export async function readSeenText(run: ToolRun, target: Target): Promise<SeenText> {
  const { path } = target
  const stat = await target.stat()
  if (!stat) throw environmentError('FILE_NOT_FOUND', { path })
  if (stat.kind === 'directory') throw environmentError('FILE_IS_DIRECTORY', { path })
  const seen = requireSeen(run, path)
  const { bytes, version } = await target.read()
  if (version !== seen.version) throw environmentError('FILE_STALE', { path })
  const file = decodeText(bytes)
  if (!file?.lossless) throw fail('FILE_NOT_TEXT', { path })
  return { file, version, whole: seen.whole }
}

/** Writes `text` back the way the file was, unless it changed meanwhile (`FILE_STALE`). */
export async function writeSeenText(
  run: ToolRun,
  target: Target,
  seen: SeenText,
  text: string,
): Promise<void> {
  const bytes = encodeText(seen.file, text)
  const version = await target.write(bytes, { expect: seen.version })
  run.seen.set(target.path, { version, whole: seen.whole })
}
