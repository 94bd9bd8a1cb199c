import { jobText, type Jobs, type JobState } from '@cordage/core/job'
import { defineTool } from '@cordage/core/tool'
import { z } from 'zod'

interface KillValue {
  readonly job: string
  /** False where it had ended before. */
  readonly requested: boolean
  readonly state: JobState
  readonly text: string
}

/** Acknowledges; the job's state, and the notice of its end, tell that it has really ended. */
export function killTool(jobs: Jobs) {
  const parameters = z.strictObject({ job: z.string() })
  return defineTool<z.output<typeof parameters>, KillValue>({
    name: 'job_kill',
    description: 'Asks a background job to end; a notice comes when it has.',
    parameters,
    effects: () => [],
    execute: async ({ job: id }, run) => {
      const job = jobs.get(run.scope, id)
      const requested = job.kill()
      return { job: id, requested, state: job.state, text: jobText(job) }
    },
    render: ({ job, requested, text }) =>
      `${job} ${requested ? 'is' : 'had ended before:'} ${text}`,
    title: ({ job }) => `end ${job}`,
  })
}
