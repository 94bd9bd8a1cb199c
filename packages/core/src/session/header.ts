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

/** Whether an agent of session `id` started it; what a person forked is nobody's child. */
export function isChildOf({ depth, parent }: SessionHeader, id: string): boolean {
  if (parent?.id !== id) return false
  // What was salvaged of a child is as deep as it, and is no fork at any fact.
  return parent.kind === 'spawn' || (depth > 0 && parent.seq !== undefined)
}
