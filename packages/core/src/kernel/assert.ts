/** A programmer's mistake: nobody handles it, the row that made it fails. */
export class AssertionError extends Error {
  override readonly name = 'AssertionError'
}

/** Throws an `AssertionError` with `sentence` unless `condition` holds; for mistakes in code only. */
export function assert(condition: unknown, sentence: string): asserts condition {
  if (!condition) throw new AssertionError(sentence)
}
