const PIECE_CHARS = 2 ** 20

/** The JSON of a value in pieces of about a megabyte. */
export function* jsonPieces(value: unknown): Generator<string> {
  let held = ''
  for (const part of partsOf(value)) {
    held += part
    if (held.length < PIECE_CHARS) continue
    yield held
    held = ''
  }
  yield held
}

function* partsOf(value: unknown): Generator<string> {
  if (typeof value === 'string' && value.length > PIECE_CHARS) yield* stringParts(value)
  else if (Array.isArray(value)) yield* listParts('[', value.map(partsOf), ']')
  else if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined)
    yield* listParts('{', members.map(memberParts), '}')
  } else yield JSON.stringify(value)
}

/** Written into one buffer: a value that is large is not there as JSON twice. */
export function jsonBytes(value: unknown): Buffer {
  let length = 0
  for (const piece of jsonPieces(value)) length += Buffer.byteLength(piece)
  const bytes = Buffer.allocUnsafe(length)
  let at = 0
  for (const piece of jsonPieces(value)) at += bytes.write(piece, at)
  return bytes
}

function* memberParts([key, member]: [string, unknown]): Generator<string> {
  yield `${JSON.stringify(key)}:`
  yield* partsOf(member)
}

function* listParts(open: string, members: Generator<string>[], close: string): Generator<string> {
  yield open
  for (const [at, member] of members.entries()) {
    if (at > 0) yield ','
    yield* member
  }
  yield close
}

function* stringParts(text: string): Generator<string> {
  yield '"'
  for (let at = 0; at < text.length;) {
    // Half a character would be written as its number.
    const isPair = /[\ud800-\udbff]/.test(text.charAt(at + PIECE_CHARS - 1))
    const end = at + PIECE_CHARS + (isPair ? 1 : 0)
    yield JSON.stringify(text.slice(at, end)).slice(1, -1)
    at = end
  }
  yield '"'
}
