import type { z } from 'zod'
import type { Scope } from '../kernel/index.ts'
import type {
  FileSystem,
  Processes,
  SearchResult,
  GlobQuery,
  GrepLine,
  GrepQuery,
  Target,
  Command,
  RunningProcess,
} from '../environment/index.ts'
import type { ImagePart, TextPart } from '../message/index.ts'
import type { Effect } from '../policy/index.ts'
import type { Stability } from '../session/index.ts'

export type ToolContent = TextPart | ImagePart

/**
 * Files as one call may use them: each use is decided on the resolved target against the grant of
 * this call. Throws `TOOL_DENIED`. Relative paths start at the session's current directory.
 */
export interface RunFiles {
  readonly guarantee: FileSystem['guarantee']
  resolve(path: string): string
  forRead(path: string): Promise<Target>
  forWrite(path: string, options?: { parents?: boolean }): Promise<Target>
  glob(
    directory: string,
    query: GlobQuery,
  ): Promise<SearchResult<{ path: string; modifiedAt: number }>>
  grep(path: string, query: GrepQuery): Promise<SearchResult<GrepLine>>
}

export interface RunProcesses {
  readonly shell: Processes['shell']
  /** The environment defaults to the allow-listed one, `cwd` to the session's directory. */
  start(
    command: Pick<Command, 'argv'> &
      Partial<Omit<Command, 'argv'>> & { readonly shellText?: string },
  ): Promise<RunningProcess>
  /**
   * Takes a process that this call started out of it: from now on neither the end of the call nor
   * its abort ends the process, whoever takes it has to. Decided once more on what was started.
   */
  detach(child: RunningProcess): Detached
}

/** What outlives a call together with a process that was detached from it. */
export interface Detached {
  putBlob(bytes: Uint8Array): Promise<string>
}

/** What the model last saw of a file, for writes that must not overwrite what it has not seen. */
export interface SeenFiles {
  get(path: string): { readonly version: string; readonly whole: boolean } | undefined
  set(path: string, seen: { version: string; whole: boolean }): void
}

/** One call as its body sees it. Everything here ends with the call. */
export interface ToolRun {
  readonly callId: string
  readonly sessionId: string
  /** Of the agent that calls, whoever registered the tool. */
  readonly scope: Scope
  readonly project: string
  readonly cwd: string
  readonly signal: AbortSignal
  readonly fs: RunFiles
  readonly processes: RunProcesses
  readonly seen: SeenFiles
  /** Shows people what is going on; never part of the result. */
  progress(text: string): void
  putBlob(bytes: Uint8Array): Promise<string>
  /** Changes the session's current directory for later calls (`session/directory`). */
  setCwd(path: string): Promise<void>
}

/**
 * Something a model may call. `effects` declares what a call will do, from its arguments alone;
 * `execute` returns one JSON value, and `render` says what the model sees of it (default: the
 * value itself as JSON, or the text where it is a string). Throw `HarnessError` for a failure that
 * the model should see.
 */
export interface Tool<Args = unknown, Value = unknown> {
  readonly name: string
  readonly description: string
  /** A zod object: its JSON schema is what the model is told. */
  readonly parameters: z.ZodType<Args>
  readonly effects: (args: Args, place: { cwd: string; project: string }) => readonly Effect[]
  readonly execute: (args: Args, run: ToolRun) => Promise<Value>
  readonly render?: (value: Value, args: Args) => string | readonly ToolContent[]
  /** True when calls with these arguments may overlap with others. Default: exclusive. */
  readonly concurrent?: (args: Args) => boolean
  /** Calling it again with the same arguments changes nothing more, so that it may be repeated. */
  readonly idempotent?: boolean
  /**
   * Finds out what became of a call whose outcome is unknown, in words for the model. It may only
   * read what the call declared that it reads; `undefined` where it cannot be told.
   */
  readonly reconcile?: (
    args: Args,
    run: Pick<ToolRun, 'fs' | 'cwd' | 'project' | 'signal'>,
  ) => Promise<string | undefined>
  readonly timeoutMs?: number
  /** How long it is offered as it is: what stays longest stands first. Default `stable`. */
  readonly stability?: Stability
  /** Whether the tool is offered in this step; a string is the reason why not. */
  readonly when?: (input: {
    provider: string
    model: string
    input: readonly string[]
  }) => true | string
  /** A few words for people: `edit src/a.ts`. */
  readonly title?: (args: Args) => string
  /** The value is an error although `execute` returned: a command's exit status, say. */
  readonly failed?: (value: Value) => boolean
}

/** Gives `tool` its types. */
export function defineTool<Args, Value>(tool: Tool<Args, Value>): Tool<Args, Value> {
  return tool
}
