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
}
