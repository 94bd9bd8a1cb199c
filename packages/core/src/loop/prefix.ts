import { countSame } from './count-same.ts'

/** Where a body stops beginning as the one before it, in bytes of UTF-8. */
export interface PrefixBreak {
  readonly sharedBytes: number
  /** What of the one before follows, but for the brackets that close it. */
  readonly lostBytes: number
}

/** What may stand behind any part, in the formats that have it, and is none of what is cached. */
const CACHE_MARK = /,"cache_control":\{"type":"ephemeral"(?:,"ttl":"\w+")?\}/g

/**
 * `undefined` where the body of the pieces `now` begins with that of `before`, byte for byte. Marks
 * for a server's cache move on from request to request and count for nothing. `same` is how many
 * pieces both begin with, where that is known.
 */
export function findBreak(
  before: readonly string[],
  now: readonly string[],
  same = countSame(before, now),
): PrefixBreak | undefined {
  const old = unmarked(before.slice(same)).replace(/[\]}]+$/, '')
  if (old === '') return undefined
  const length = commonLength(old, unmarked(now.slice(same)))
  if (length === old.length) return undefined
  const shared = Buffer.byteLength(old.slice(0, length))
  return {
    sharedBytes: Buffer.byteLength(unmarked(before.slice(0, same))) + shared,
    lostBytes: Buffer.byteLength(old) - shared,
  }
}

const unmarked = (pieces: readonly string[]) => pieces.join('').replace(CACHE_MARK, '')

/** In UTF-16 units, of whole characters. */
function commonLength(one: string, other: string): number {
  const most = Math.min(one.length, other.length)
  let length = 0
  while (length < most && one.charCodeAt(length) === other.charCodeAt(length)) length += 1
  const isHalf = (one.charCodeAt(length - 1) & 0xfc00) === 0xd800 && length < one.length
  return isHalf ? length - 1 : length
}
