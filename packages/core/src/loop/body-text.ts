import { createHash } from 'node:crypto'
import { countSame } from './count-same.ts'

/** A body as it is written down; `digest` is the SHA-256 (hex) of its JSON. */
export interface WrittenBody {
  readonly digest: string
  /** Together they are its JSON; those that the body before had too are the same strings. */
  readonly pieces: readonly string[]
  /** The pieces of the body that was written before it, and how many of them begin this one too. */
  readonly before: readonly string[]
  readonly same: number
  text(): string
}

interface List {
  readonly members: readonly unknown[]
  /** Each with the comma before it. */
  readonly texts: readonly string[]
}

const none: List = { members: [], texts: [] }
/** Stands for a member that has to be written each time. */
const changing = Symbol('changing')

/**
 * Writes down the bodies of one session. Each begins like the one before it, so that only what is
 * new is turned into JSON and hashed: members of its lists that are frozen are written once.
 */
export class BodyText {
  readonly #lists = new Map<string, List>()
  #pieces: readonly string[] = []
  /** Of the first pieces, which the body before had too. */
  #hash = createHash('sha256')
  #hashed = 0

  write(body: unknown): WrittenBody {
    const pieces = isPlain(body) ? this.#piecesOf(body) : [JSON.stringify(body)]
    const before = this.#pieces
    const same = countSame(before, pieces)
    const digest = this.#digest(pieces, same)
    return { digest, pieces, before, same, text: () => pieces.join('') }
  }

  /** Together they are what `JSON.stringify` gives. */
  #piecesOf(body: object): string[] {
    let pieces = ['{']
    for (const [key, value] of Object.entries(body)) {
      const name = `${pieces.length > 1 ? ',' : ''}${JSON.stringify(key)}:`
      if (Array.isArray(value)) {
        pieces = pieces.concat(`${name}[`, this.#textsOf(key, value), ']')
      } else {
        const text = JSON.stringify(value)
        if (text !== undefined) pieces.push(name + text)
      }
    }
    pieces.push('}')
    return pieces
  }

  #textsOf(key: string, now: readonly unknown[]): readonly string[] {
    const before = this.#lists.get(key) ?? none
    const same = countSame(before.members, now)
    const texts = before.texts.slice(0, same)
    const members = before.members.slice(0, same)
    for (const member of now.slice(same)) {
      texts.push(`${texts.length > 0 ? ',' : ''}${JSON.stringify(member) ?? 'null'}`)
      members.push(Object.isFrozen(member) ? member : changing)
    }
    this.#lists.set(key, { members, texts })
    return texts
  }

  #digest(pieces: readonly string[], same: number): string {
    if (same < this.#hashed) {
      this.#hash = createHash('sha256')
      this.#hashed = 0
    }
    this.#hash.update(pieces.slice(this.#hashed, same).join(''))
    this.#hashed = same
    this.#pieces = pieces
    return this.#hash.copy().update(pieces.slice(same).join('')).digest('hex')
  }
}

/** Whether its members alone say how it is written. */
function isPlain(value: unknown): value is object {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !('toJSON' in value)
  )
}
