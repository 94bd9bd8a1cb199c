import { createReadStream } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { createZstdDecompress } from 'node:zlib'

const FRAME = 0xfd2fb528

/** Frames that other programs keep things of their own in. */
function isSkippable(magic: number): boolean {
  return magic >= 0x184d2a50 && magic <= 0x184d2a5f
}

interface Extent {
  readonly start: number
  readonly end: number
}

/**
 * The bytes of a file of concatenated zstd frames (RFC 8878), inflated one after the other:
 * Node's own reader stops after the first. `report` hears of a frame that is cut off or damaged.
 */
export async function* inflated(
  path: string,
  report: (reason: string) => void,
): AsyncGenerator<Buffer> {
  const file = await open(path, 'r')
  try {
    for await (const { start, end } of framesOf(file, report)) {
      const source = createReadStream(path, { start, end: end - 1 })
      try {
        for await (const chunk of source.pipe(createZstdDecompress())) yield chunk as Buffer
      } catch (error) {
        report(`the zstd frame at byte ${start} is damaged: ${String(error)}`)
        // What came of its line cannot be told from the next frame's.
        yield Buffer.from('\n')
      } finally {
        source.destroy()
      }
    }
  } finally {
    await file.close()
  }
}

async function* framesOf(
  file: FileHandle,
  report: (reason: string) => void,
): AsyncGenerator<Extent> {
  const { size } = await file.stat()
  let at = 0
  while (at < size) {
    const head = await bytesAt(file, at, 18)
    const magic = head.length >= 8 ? head.readUInt32LE(0) : 0
    if (isSkippable(magic)) {
      at += 8 + head.readUInt32LE(4)
      continue
    }
    const end = magic === FRAME ? await frameEnd(file, at, head) : undefined
    if (end === undefined || end > size) {
      return report(`from byte ${at} on it is no whole zstd frame`)
    }
    yield { start: at, end }
    at = end
  }
}

/** Where the frame at `start` ends, found by the sizes of its blocks. */
async function frameEnd(
  file: FileHandle,
  start: number,
  head: Buffer,
): Promise<number | undefined> {
  const descriptor = head[4] ?? 0
  const single = (descriptor >> 5) & 1
  const sizeFlag = descriptor >> 6
  const sizeBytes = sizeFlag === 0 ? single : 1 << sizeFlag
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] ?? 0
  let at = start + 5 + (1 - single) + dictionaryBytes + sizeBytes
  for (;;) {
    const bytes = await bytesAt(file, at, 3)
    if (bytes.length < 3) return undefined
    const block = bytes.readUIntLE(0, 3)
    const isRunLength = ((block >> 1) & 3) === 1
    at += 3 + (isRunLength ? 1 : block >> 3)
    if (block & 1) return at + (descriptor & 4 ? 4 : 0)
  }
}

async function bytesAt(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length)
  const { bytesRead } = await file.read(buffer, 0, length, at)
  return buffer.subarray(0, bytesRead)
}
