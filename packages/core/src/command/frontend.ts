import type { Limits } from '../ledger/index.ts'
import type { Mode } from '../policy/index.ts'

export type OutputFormat = 'text' | 'json' | 'stream-json'

/** The streams of the person or program that started the frontend. */
export interface Terminal {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  readonly outIsTerminal: boolean
  readonly errIsTerminal: boolean
  readonly columns: number
  readonly color: boolean
}

/** What a person asked for on the command line, already checked. */
export interface Invocation {
  readonly task?: string
  /** What of the task a person typed, where that is not all: what came through a pipe is not. */
  readonly typed?: string
  readonly session:
    | { readonly kind: 'new' }
    | { readonly kind: 'resume'; readonly id: string }
    | { readonly kind: 'continue' }
  /** Goes on with a turn that was cut short, before anything else that waits. */
  readonly interrupted?: boolean
  /** Absolute. */
  readonly cwd: string
  /** `<provider>/<model id>`; absent: what the session used, else the default of the credentials. */
  readonly model?: string
  readonly effort?: string
  readonly permission?: Mode
  readonly output: OutputFormat
  readonly limits: Limits
  readonly quiet: boolean
  readonly takeOver: boolean
  readonly terminal: Terminal
  /** Aborts at the first SIGINT or SIGTERM; the reason is the signal's name. */
  readonly signal: AbortSignal
}

/** `ctx.frontend`: the way in that a launched profile has. Resolves with the exit code. */
export interface Frontend {
  run(invocation: Invocation): Promise<number>
}

declare module '@cordage/core/kernel' {
  interface Services {
    frontend: Frontend
  }
}
