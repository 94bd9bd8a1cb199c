/** Where a request differs. Texts are pieces of JSON around the first differing byte. */
export interface ByteDifference {
  /** Of the first differing byte, counted from 0. */
  readonly offset: number
  readonly before: string
  readonly after: string
  /** `tool "read" (row tool-read)`, `system prompt, section "working" (…)`, `message 3 (user)`. */
  readonly where: string
  /** Members on the way to it, such as `tools.4.description`. */
  readonly path: string
}

/**
 * The first thing that is not as it was. `request`: bytes; `tool`: a call is answered differently;
 * `policy`: it is decided differently; `turn`: the turn goes on, ends or is tried again otherwise.
 */
export interface Divergence {
  readonly kind: 'request' | 'tool' | 'policy' | 'turn'
  readonly turn: number
  readonly step: number
  readonly tool?: string
  readonly callId?: string
  /** What the log holds. */
  readonly before: string
  /** What the tree does now. */
  readonly after: string
  readonly bytes?: ByteDifference
}
