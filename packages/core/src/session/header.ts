/** Fixed when a session is made; the first record of its log. */
export interface SessionHeader {
  readonly format: 1
  readonly id: string
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** Absolute path of the project the session belongs to; it never changes. */
  readonly project: string
  readonly preset?: string
  readonly parent?: { readonly id: string; readonly kind: 'fork' | 'spawn'; readonly seq?: number }
  /** 0 for a session that a person started. */
  readonly depth: number
}
