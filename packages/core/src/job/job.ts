import type { ProcessExit, RunningProcess } from '../environment/index.ts'
import { defineNotice, type Scope } from '../kernel/index.ts'

/** `killed`: somebody asked it to end before it did; `exit` says how it really ended. */
export type JobState = 'running' | 'exited' | 'killed'

/** Where the whole of a long output is, as it was written; `complete` is false over a limit. */
export interface JobBlob {
  readonly hash: string
  readonly bytes: number
  readonly complete: boolean
}

/**
 * Reads an output to its end, passing its text on as it comes. Resolves with the blob that has all
 * of it, where the text was long.
 */
export type JobCapture = (
  output: RunningProcess['output'],
  show: (text: string) => void,
) => Promise<JobBlob | undefined>

/** A part of a job's output. Counted in UTF-16 units, from the start of the output. */
export interface JobText {
  readonly text: string
  /** The cursor that goes on after `text`. */
  readonly next: number
  /** How much before `text` is kept no more, and how much follows it already. */
  readonly dropped: number
  readonly left: number
}

/** A process that goes on after the call that started it. */
export interface Job {
  /** `job-1` and so on, unique within its scope. */
  readonly id: string
  readonly title: string
  /** The call that started it. */
  readonly callId: string
  readonly pid: number
  readonly state: JobState
  readonly killRequested: boolean
  /** Set when it is no longer `running`. */
  readonly exit: ProcessExit | undefined
  readonly blob: JobBlob | undefined
  /** Epoch milliseconds. */
  readonly startedAt: number
  /** Resolves when it is no longer `running`; never rejects. */
  readonly ended: Promise<void>
  /** What was written since `cursor`, the result of an earlier read or 0. Any number may read. */
  read(cursor: number, maxChars?: number): JobText
  /** Asks the whole process tree to end, and says whether there still was one to ask. */
  kill(): boolean
}

export interface JobStart {
  /** A few words for people and models. */
  readonly title: string
  readonly callId: string
  /** Detached from its call. From here on nobody else reads or ends it. */
  readonly process: RunningProcess
  readonly capture: JobCapture
}

/** `ctx.jobs`: the jobs of each agent, which end with its scope. No agent sees those of another. */
export interface Jobs {
  /** To be asked before a process is started for a job. Throws `JOB_LIMIT`. */
  admit(scope: Scope): void
  start(scope: Scope, start: JobStart): Job
  /** Throws `JOB_UNKNOWN`. */
  get(scope: Scope, id: string): Job
  /** In the order in which they were started; the oldest that ended are forgotten. */
  list(scope: Scope): readonly Job[]
}

/** Announces each end of a job, also where its agent is closing. */
export const jobEnded = defineNotice<{ readonly scope: Scope; readonly job: Job }>('job/ended')

declare module '@cordage/core/kernel' {
  interface Services {
    jobs: Jobs
  }
}
