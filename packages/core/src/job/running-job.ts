import type { ProcessExit } from '../environment/index.ts'
import { describeFailure, log, type Context } from '../kernel/index.ts'
import { JobOutput } from './job-output.ts'
import type { Job, JobBlob, JobStart, JobState } from './job.ts'

/** Follows a process to its end, keeping the last `maxKeptChars` of what it writes. */
export function runJob(
  ctx: Context,
  id: string,
  { title, callId, process, capture }: JobStart,
  maxKeptChars: number,
): Job {
  const output = new JobOutput(maxKeptChars)
  let killRequested = false
  let end: { state: JobState; exit: ProcessExit; blob: JobBlob | undefined } | undefined

  const keep = async () => {
    try {
      return await capture(process.output, (text) => output.push(text))
    } catch (error) {
      // What was read before is there, and the process goes on without a reader.
      log(ctx, 'error', `the output of ${id} is incomplete`, { error: describeFailure(error) })
      return undefined
    }
  }
  const follow = async () => {
    const [exit, blob] = await Promise.all([process.exit, keep()])
    output.trim()
    end = { state: killRequested || exit.aborted ? 'killed' : 'exited', exit, blob }
  }
  const ended = follow()

  return {
    id,
    title,
    callId,
    pid: process.pid,
    startedAt: Date.now(),
    ended,
    get state() {
      return end?.state ?? 'running'
    },
    get killRequested() {
      return killRequested
    },
    get exit() {
      return end?.exit
    },
    get blob() {
      return end?.blob
    },
    read: (cursor, maxChars = maxKeptChars) => output.read(cursor, maxChars),
    kill: () => {
      if (end) return false
      killRequested = true
      process.kill().catch((error: unknown) => {
        log(ctx, 'error', `${id} could not be ended`, { error: describeFailure(error) })
      })
      return true
    },
  }
}
