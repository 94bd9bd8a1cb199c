/** What to run. `env` is the whole environment of the child: nothing is inherited besides it. */
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

/** A running process. `output` is single-use and ends when every writer of the pipes has ended. */
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
