import type { Io, IoFile } from '@cordage/core/store'

export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined
}

/**
 * Once more where the files of a log may be other ones meanwhile: it was written anew, or its owner
 * has removed a segment that it never wrote to.
 */
export async function again<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!mayBeOfAnother(error)) throw error
    return work()
  }
}

/** Of a log that was written anew a file is gone, or is not what the old one said of it. */
export function mayBeOfAnother(error: unknown): boolean {
  return ['ENOENT', 'STORE_DAMAGED'].includes(errorCode(error) ?? '')
}

/** The bytes of a file after `from`, at most `max`. */
export async function readWhole(io: Io, path: string, max = Infinity, from = 0): Promise<Buffer> {
  const file = await io.open(path, 'read')
  try {
    const size = Math.max(0, Math.min((await file.size()) - from, max))
    const bytes = Buffer.allocUnsafe(size)
    let filled = 0
    while (filled < size) {
      const count = await file.read(bytes.subarray(filled), from + filled)
      if (count === 0) break
      filled += count
    }
    return bytes.subarray(0, filled)
  } finally {
    await file.close()
  }
}

export async function writeWhole(file: IoFile, bytes: Uint8Array, position: number): Promise<void> {
  let written = 0
  while (written < bytes.length) {
    written += await file.write(bytes.subarray(written), position + written)
  }
}

/** Makes a file that is complete and on the disk before it has its name. */
export async function placeFile(io: Io, path: string, bytes: Uint8Array): Promise<void> {
  const draft = `${path}.${process.pid}-${Math.random().toString(36).slice(2, 10)}.tmp`
  const file = await io.open(draft, 'create')
  try {
    await closingOnFailure(file, async () => {
      await writeWhole(file, bytes, 0)
      await file.sync()
    })
  } catch (error) {
    await io.remove(draft)
    throw error
  }
  await file.close()
  await io.rename(draft, path)
}

/** What `use` gives; when it throws, nobody will ever hold `file`, and it is closed. */
export async function closingOnFailure<T>(
  file: Pick<IoFile, 'close'>,
  use: () => Promise<T>,
): Promise<T> {
  try {
    return await use()
  } catch (error) {
    await file.close().catch(() => {
      // The failure that came first is the one to tell.
    })
    throw error
  }
}
