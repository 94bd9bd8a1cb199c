/**
 * What to run. `env` is the whole environment of the child (a marker by which its descendants are
 * found is added). Without `stdin` the child reads an empty one.
 */
export interface Command {
  readonly argv: readonly [string, ...string[]]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly stdin?: string
  readonly timeoutMs?: number
}

/** How a process ended. Exactly one of `code` and `signal` is set unless it never started. */
export interface ProcessExit {
  readonly code?: number
  readonly signal?: string
  readonly timedOut: boolean
  readonly aborted: boolean
  readonly durationMs: number
}

export interface OutputChunk {
  readonly stream: 'stdout' | 'stderr'
  readonly bytes: Uint8Array
}

/**
 * A running process. `output` is single-use; the process waits while nobody reads it, and what is
 * left is dropped when the reader breaks off. Everything that the process started ends with it:
 * what still runs 250 ms after its exit is ended as by `kill`, then `output` ends and `exit`
 * resolves.
 */
export interface RunningProcess {
  readonly pid: number
  readonly output: AsyncIterable<OutputChunk>
  readonly exit: Promise<ProcessExit>
  /** Ends the whole tree: asks, and after a grace period kills, what has left its group too. */
  kill(): Promise<void>
}

/** `ctx.processes` */
export interface Processes {
  /** The shell that `bash` runs: its program, how a command is given to it, what it is. */
  readonly shell: {
    readonly kind: 'bash' | 'sh' | 'powershell'
    argv(command: string): [string, ...string[]]
  }
  /** `none` until kernel confinement exists. */
  readonly confinement: 'none' | 'kernel'
  /** The variables of the host's environment that a child may see. */
  baseEnv(): Record<string, string>
  /** Throws `PROCESS_START_FAILED`. The signal ends the whole tree. */
  start(command: Command, signal: AbortSignal): Promise<RunningProcess>
}

declare module '@cordage/core/kernel' {
  interface Services {
    processes: Processes
  }
}
