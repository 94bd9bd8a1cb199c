/** Pixels. */
export interface ImageSize {
  readonly width: number
  readonly height: number
}

/** What the head of a PNG, JPEG, GIF or WebP file says of its size; `undefined` where none is. */
export function imageSize(bytes: Uint8Array): ImageSize | undefined {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  try {
    const size = ofPng(file) ?? ofGif(file) ?? ofWebp(file) ?? ofJpeg(file)
    return size && size.width > 0 && size.height > 0 ? size : undefined
  } catch {
    // It ends before it has said so.
    return undefined
  }
}

function ofPng(file: Buffer): ImageSize | undefined {
  if (file.toString('latin1', 0, 8) !== '\x89PNG\r\n\x1a\n') return undefined
  return { width: file.readUInt32BE(16), height: file.readUInt32BE(20) }
}

function ofGif(file: Buffer): ImageSize | undefined {
  if (!/^GIF8[79]a/.test(file.toString('latin1', 0, 6))) return undefined
  return { width: file.readUInt16LE(6), height: file.readUInt16LE(8) }
}

/** Its three forms: lossy, lossless, and with a canvas. */
function ofWebp(file: Buffer): ImageSize | undefined {
  if (file.toString('latin1', 0, 4) !== 'RIFF') return undefined
  switch (file.toString('latin1', 8, 16)) {
    case 'WEBPVP8 ':
      return { width: file.readUInt16LE(26) & 0x3fff, height: file.readUInt16LE(28) & 0x3fff }
    case 'WEBPVP8L': {
      const bits = file.readUInt32LE(21)
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    case 'WEBPVP8X':
      return { width: file.readUIntLE(24, 3) + 1, height: file.readUIntLE(27, 3) + 1 }
    default:
      return undefined
  }
}

/** The first frame: segments with a length each stand before it. */
function ofJpeg(file: Buffer): ImageSize | undefined {
  if (file.readUInt16BE(0) !== 0xffd8) return undefined
  for (let at = 2; file[at] === 0xff;) {
    const marker = file.readUInt8(at + 1)
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return { height: file.readUInt16BE(at + 5), width: file.readUInt16BE(at + 7) }
    // A fill byte stands alone.
    at += marker === 0xff ? 1 : 2 + file.readUInt16BE(at + 2)
  }
  return undefined
}
