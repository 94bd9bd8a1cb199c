import type { ProcessExit } from '@cordage/core/environment'
import { jobText, type Job, type JobBlob, type JobState } from '@cordage/core/job'
import type { PluginContext } from '@cordage/core/kernel'
import { defineTool, resultNotice } from '@cordage/core/tool'
import { z } from 'zod'
import { waitForEnd } from './wait.ts'

interface OutputValue {
  readonly job: string
  readonly state: JobState
  readonly text: string
  readonly exit?: ProcessExit
  readonly output: string
  /** Characters that were not kept until they could be read, and those that follow. */
  readonly dropped: number
  readonly left: number
  readonly blob?: JobBlob
}

/** Room for the first line and what is escaped, so that the pipeline does not cut a page. */
const MARGIN_CHARS = 1_000

interface Page {
  readonly job: Job
  readonly next: number
}

export function outputTool(ctx: PluginContext<'tools' | 'jobs'>, maxWaitMs: number) {
  const parameters = z.strictObject({
    job: z.string(),
    wait_ms: z.number().int().min(0).max(maxWaitMs).optional(),
  })
  // How far the model has been shown each job: known only once a result is in the log.
  const shown = new WeakMap<Job, number>()
  const pages = new Map<string, Page>()
  resultNotice.use(ctx, ({ call, sessionId, error }) => {
    const page = pages.get(keyOf(sessionId, call.id))
    pages.delete(keyOf(sessionId, call.id))
    // What never reached the model, as of an aborted call, is there to be read again.
    if (page && !error) shown.set(page.job, page.next)
  })

  return defineTool<z.output<typeof parameters>, OutputValue>({
    name: 'job_output',
    description: 'New output and state of a background job; wait_ms waits for its end.',
    parameters,
    effects: () => [],
    execute: async ({ job: id, wait_ms: waitMs = 0 }, run) => {
      const job = ctx.jobs.get(run.scope, id)
      await waitForEnd(ctx, job, waitMs, run)
      const room = ctx.tools.maxInlineChars - MARGIN_CHARS
      const {
        next,
        text: output,
        dropped,
        left,
      } = job.read(shown.get(job) ?? 0, Math.max(500, room))
      pages.set(keyOf(run.sessionId, run.callId), { job, next })
      const { state, exit, blob } = job
      const ended = { ...(exit ? { exit } : {}), ...(blob ? { blob } : {}) }
      return { job: id, state, text: jobText(job), ...ended, output, dropped, left }
    },
    render: renderOutput,
    concurrent: () => true,
    timeoutMs: maxWaitMs + 30_000,
    title: ({ job }) => `output of ${job}`,
  })
}

/** Calls of other sessions may have the same id. */
function keyOf(sessionId: string, callId: string): string {
  return `${sessionId} ${callId}`
}

/** How it stands comes first, where nothing that the job printed can come before it. */
function renderOutput({ text, output, dropped, left }: OutputValue): string {
  const notes = [text]
  if (dropped > 0) notes.push(`${dropped} characters before this are lost`)
  if (left > 0) notes.push(`${left} characters follow, call again`)
  return output === '' ? `${text}, no new output` : `${notes.join('; ')}\n${output}`
}
