/**
 * `ctx.credentials`: secrets by name. A value is revealed at each use and never kept, logged or
 * given to a model; `redact` hides every known value in a text.
 */
export interface Credentials {
  has(name: string): boolean
  /** Throws `CREDENTIAL_MISSING`, naming each way to give it. */
  reveal(name: string): string
  redact(text: string): string
}

declare module '@cordage/core/kernel' {
  interface Services {
    credentials: Credentials
  }
}
