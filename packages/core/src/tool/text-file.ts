export type TextEncoding = 'utf-8' | 'utf-16le' | 'utf-16be'

/**
 * The text of a file and what it takes to write it back. `eol` is the line ending that all lines
 * share; then `text` has plain `\n`. With `mixed` the text keeps every ending as it is.
 */
export interface TextFile {
  readonly text: string
  readonly encoding: TextEncoding
  readonly bom: boolean
  readonly eol: '\n' | '\r\n' | 'mixed'
  /** False when some bytes are not valid text: it can be shown, but not written back. */
  readonly lossless: boolean
}

const SAMPLE_BYTES = 8192

/** Decodes the content of a file, or answers `undefined` where it is not text. */
export function decodeText(bytes: Uint8Array): TextFile | undefined {
  const { encoding, bom } = detectEncoding(bytes)
  if (encoding === undefined) return undefined
  const raw = decode(bytes.subarray(bom), encoding)
  if (looksBinary(raw)) return undefined
  const eol = detectEol(raw)
  const text = eol === '\r\n' ? raw.replaceAll('\r\n', '\n') : raw
  const file = { text, encoding, bom: bom > 0, eol }
  return { ...file, lossless: Buffer.compare(encodeText(file, text), bytes) === 0 }
}

/** The bytes of `text` in the encoding, with the BOM and the line endings, of `file`. */
export function encodeText(
  file: Pick<TextFile, 'encoding' | 'bom' | 'eol'>,
  text: string,
): Uint8Array {
  const ended = file.eol === '\r\n' ? text.replaceAll(/\r?\n/g, '\r\n') : text
  const whole = file.bom ? `\uFEFF${ended}` : ended
  if (file.encoding === 'utf-8') return Buffer.from(whole, 'utf8')
  const units = Buffer.from(whole, 'utf16le')
  return file.encoding === 'utf-16be' ? units.swap16() : units
}

function detectEncoding(bytes: Uint8Array): { encoding: TextEncoding | undefined; bom: number } {
  const [a, b, c] = bytes
  if (a === 0xef && b === 0xbb && c === 0xbf) return { encoding: 'utf-8', bom: 3 }
  if (a === 0xff && b === 0xfe) return { encoding: 'utf-16le', bom: 2 }
  if (a === 0xfe && b === 0xff) return { encoding: 'utf-16be', bom: 2 }
  return { encoding: detectUnmarked(bytes.subarray(0, SAMPLE_BYTES)), bom: 0 }
}

/** Without a BOM, ASCII in UTF-16 shows as a NUL in every other byte, all on one side. */
function detectUnmarked(sample: Uint8Array): TextEncoding | undefined {
  const nuls = [0, 0]
  for (const [index, byte] of sample.entries()) if (byte === 0) nuls[index % 2]! += 1
  const [even = 0, odd = 0] = nuls
  if (even === 0 && odd === 0) return 'utf-8'
  const enough = sample.length * 0.2
  if (even === 0 && odd >= enough) return 'utf-16le'
  if (odd === 0 && even >= enough) return 'utf-16be'
  return undefined
}

function decode(bytes: Uint8Array, encoding: TextEncoding): string {
  return new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes)
}

/** More than a tenth of control or undecodable characters is not something a person wrote. */
function looksBinary(text: string): boolean {
  const sample = text.slice(0, SAMPLE_BYTES)
  // oxlint-disable-next-line no-control-regex
  const odd = sample.match(/[\u0000-\u0008\u000e-\u001a\u001c-\u001f\u007f\uFFFD]/g) ?? []
  return odd.length > Math.max(2, sample.length / 10)
}

function detectEol(text: string): TextFile['eol'] {
  if (!text.includes('\r')) return '\n'
  const rest = text.replaceAll('\r\n', '')
  return /[\r\n]/.test(rest) ? 'mixed' : '\r\n'
}
