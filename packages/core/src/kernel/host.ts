/**
 * `ctx.host`: the process that Cordage runs in, given by whoever boots it (the CLI, or a program
 * that embeds it). Only credentials and environments read `env`.
 */
export interface Host {
  readonly env: Readonly<Record<string, string | undefined>>
  /** `$CORDAGE_HOME`, absolute. */
  readonly home: string
  /** The directory that the person started in, absolute. */
  readonly cwd: string
  readonly version: string
  /**
   * Secrets that are kept outside of `env`, by name, as they are now. It may throw a
   * `HarnessError` where they are not kept safely; only credentials call it.
   */
  readonly credentials?: () => Readonly<Record<string, string>>
}
