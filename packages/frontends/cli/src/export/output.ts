import { open, rename, rm, type FileHandle } from 'node:fs/promises'
import { once } from 'node:events'
import { systemReason } from '../boot/make-directory.ts'
import { stdoutFailure } from '../print/terminal.ts'
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
 * Writes a file that only its owner may read. One that is there stays, unless `force`; then it is
 * replaced when the new one is whole. Throws `EXPORT_EXISTS`, `EXPORT_FAILED`.
 */
export async function writeFile(
  path: string,
  chunks: AsyncIterable<string>,
  force: boolean,
): Promise<void> {
  const draft = force ? `${path}.${process.pid}.tmp` : path
  const file = await create(draft, path)
  try {
    for await (const text of joined(chunks)) await writing(path, () => file.appendFile(text))
    await writing(path, () => file.sync())
    await file.close()
    if (force) await writing(path, () => rename(draft, path))
  } catch (error) {
    await file.close().catch(() => {
      // It is taken away next.
    })
    await rm(draft, { force: true })
    throw error
  }
}

async function create(draft: string, path: string): Promise<FileHandle> {
  try {
    return await open(draft, 'wx', 0o600)
  } catch (error) {
    const taken = error instanceof Error && 'code' in error && error.code === 'EEXIST'
    if (taken) throw exportError('EXPORT_EXISTS', { path: draft })
    throw exportError('EXPORT_FAILED', { path, reason: systemReason(error) })
  }
}

async function writing<T>(path: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
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
