import { escapeControls } from '@cordage/core/error'
import { jobText, type Job, type Jobs, type JobState } from '@cordage/core/job'
import { defineTool } from '@cordage/core/tool'
import { z } from 'zod'

interface ListedJob {
  readonly job: string
  readonly state: JobState
  readonly text: string
  readonly title: string
}

const MAX_TITLE = 120

/** The jobs of the agent, those that have ended lately too. */
export function listTool(jobs: Jobs) {
  const parameters = z.strictObject({})
  return defineTool<z.output<typeof parameters>, readonly ListedJob[]>({
    name: 'job_list',
    description: 'Lists background jobs.',
    parameters,
    effects: () => [],
    execute: async (_, run) => jobs.list(run.scope).map(listed),
    render: (all) => {
      const lines = all.map(({ job, text, title }) => `${job} ${text} · ${title}`)
      return lines.length === 0 ? 'no jobs' : lines.join('\n')
    },
    concurrent: () => true,
    title: () => 'list jobs',
  })
}

function listed(job: Job): ListedJob {
  const title = escapeControls(job.title.slice(0, MAX_TITLE).toWellFormed())
  return { job: job.id, state: job.state, text: jobText(job), title }
}
