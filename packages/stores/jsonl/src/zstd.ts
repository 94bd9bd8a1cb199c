/** Loaded at first use: a session that is only listed costs no native module. */
const library = () => import('@mongodb-js/zstd')

const maxBlock = 128 * 1024

/** Up to here compressing takes longer than it is worth: most batches are a few hundred bytes. */
const maxStored = 1024

/** One zstd frame. Small ones hold the bytes as they are, which every reader of zstd takes. */
export async function compress(bytes: Buffer): Promise<Buffer> {
  return bytes.length <= maxStored ? store(bytes) : (await library()).compress(bytes, 3)
}

function store(bytes: Buffer): Buffer {
  return Buffer.concat([leadOf(bytes.length), bytes])
}

/** Of a frame of RFC 8878 of a single segment with its content size, and one last, raw block. */
function leadOf(length: number): Buffer {
  // The size takes one byte, or two that count from 256.
  const wide = length >= 256
  const lead = Buffer.alloc(wide ? 10 : 9)
  lead.writeUInt32LE(0xfd2fb528, 0)
  lead.writeUInt8(wide ? 0x60 : 0x20, 4)
  if (wide) lead.writeUInt16LE(length - 256, 5)
  else lead.writeUInt8(length, 5)
  lead.writeUIntLE((length << 3) | 1, lead.length - 3, 3)
  return lead
}

/** What a file holds that stock zstd shall take, and print nothing of. */
export const emptyFrame = store(Buffer.alloc(0))

/** Inflates concatenated frames, skippable ones included. Check every frame first. */
export async function decompress(bytes: Buffer): Promise<Buffer> {
  return unstore(bytes) ?? (await library()).decompress(bytes)
}

/** What frames of `store` hold, skippable ones between them; `undefined` where one is another. */
function unstore(bytes: Buffer): Buffer | undefined {
  const parts: Buffer[] = []
  let at = 0
  while (at < bytes.length) {
    if (at + 9 > bytes.length) return undefined
    const skippable = (bytes.readUInt32LE(at) & 0xfffffff0) === 0x184d2a50
    if (skippable) {
      at += 8 + bytes.readUInt32LE(at + 4)
      continue
    }
    const wide = bytes[at + 4] === 0x60
    const content = at + (wide ? 10 : 9)
    if (content > bytes.length) return undefined
    const end = content + (wide ? 256 + bytes.readUInt16LE(at + 5) : bytes.readUInt8(at + 5))
    if (end > bytes.length) return undefined
    const part = bytes.subarray(content, end)
    const lead = leadOf(part.length)
    if (!lead.equals(bytes.subarray(at, content))) return undefined
    parts.push(part)
    at = end
  }
  return at === bytes.length ? Buffer.concat(parts) : undefined
}

/**
 * Says whether `bytes` is exactly one zstd frame (RFC 8878) that cannot inflate to much more than
 * `raw` bytes: the library has no cap of its own, and 9 KB can inflate to 300 MB.
 */
export function isBounded(bytes: Buffer, raw: number): boolean {
  if (bytes.length < 6 || bytes.readUInt32LE(0) !== 0xfd2fb528) return false
  const descriptor = bytes[4] ?? 0
  const single = (descriptor >> 5) & 1
  const sizeFlag = descriptor >> 6
  const sizeBytes = sizeFlag === 0 ? single : 1 << sizeFlag
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] ?? 0
  let at = 5 + (1 - single) + dictionaryBytes + sizeBytes
  for (let blocks = 1; at + 3 <= bytes.length; blocks++) {
    const header = bytes.readUIntLE(at, 3)
    const runLength = ((header >> 1) & 3) === 1
    at += 3 + (runLength ? 1 : header >> 3)
    if (blocks > 4 + Math.ceil(raw / maxBlock) * 4) return false
    if (header & 1) return at + (descriptor & 4 ? 4 : 0) === bytes.length
  }
  return false
}
