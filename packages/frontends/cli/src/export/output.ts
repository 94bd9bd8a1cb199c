import { once } from 'node:events'
import { link, lstat, open, rename, rm } from 'node:fs/promises'
import { isHarnessError } from '@cordage/core/error'
import { systemReason } from '../boot/make-directory.ts'
import { stdoutFailure } from '../print/terminal.ts'
import { draftOf, removeLeftDrafts } from './drafts.ts'
import { exportError } from './errors.ts'

const CHUNK = 256 * 1024

/** Writes to stdout no faster than it is read; ends quietly where nobody reads any more. */
export async function writeOut(chunks: AsyncIterable<string>): Promise<void> {
  const { stdout } = process
  for await (const text of joined(chunks)) {
    if (stdout.destroyed || stdoutFailure()) return
    if (!stdout.write(text)) await Promise.race([once(stdout, 'drain'), once(stdout, 'close')])
  }
}

/**
 * Writes a file that only its owner may read, which has its name once it is whole. One that is
 * there stays, unless `force`. Throws `EXPORT_EXISTS`, `EXPORT_FAILED`.
 */
export async function writeFile(
  path: string,
  chunks: AsyncIterable<string>,
  force: boolean,
): Promise<void> {
  if (!force) await writing(path, () => expectNone(path))
  await removeLeftDrafts(path)
  const draft = draftOf(path, process.pid)
  const file = await writing(path, () => open(draft, 'wx', 0o600))
  try {
    for await (const text of joined(chunks)) await writing(path, () => file.appendFile(text))
    await writing(path, () => file.sync())
    await file.close()
    await writing(path, () => (force ? rename(draft, path) : placeNew(draft, path)))
  } finally {
    await file.close().catch(() => {
      // It is taken away next.
    })
    // Where it got its name, this one is gone.
    await rm(draft, { force: true })
  }
}

async function expectNone(path: string): Promise<void> {
  if (await lstat(path).catch(missing)) throw exportError('EXPORT_EXISTS', { path })
}

function missing(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error
  return undefined
}

/** Gives the draft a name that nothing has, however late that is taken. */
async function placeNew(draft: string, path: string): Promise<void> {
  try {
    await link(draft, path)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw exportError('EXPORT_EXISTS', { path })
    // Not every file system has links.
    await expectNone(path)
    await rename(draft, path)
  }
}

async function writing<T>(path: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (isHarnessError(error)) throw error
    throw exportError('EXPORT_FAILED', { path, reason: systemReason(error) })
  }
}

/** Small pieces become large ones: a write each would take most of the time. */
async function* joined(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let waiting: string[] = []
  let length = 0
  for await (const chunk of chunks) {
    waiting.push(chunk)
    length += chunk.length
    if (length < CHUNK) continue
    yield waiting.join('')
    waiting = []
    length = 0
  }
  if (length > 0) yield waiting.join('')
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}
