/** What a thrown value says of itself. Anything can be thrown, and reading it may throw as well. */
export function reasonOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error)
  } catch {
    return 'it failed with an error that cannot be read'
  }
}
