import { escapeControls } from '../error/index.ts'
import { jobEnded, jobText, type Job } from '../job/index.ts'
import type { Context } from '../kernel/index.ts'
import { textMessage, type Message, newId } from '../message/index.ts'
import { inboxSplice } from '../session/index.ts'
import type { Agents } from './agent.ts'

const MAX_TITLE = 80

/** Has each agent's model hear of a job that ended, in its next step. Wakes nobody. */
export function announceJobs(ctx: Context, agents: Pick<Agents, 'list'>): void {
  jobEnded.use(ctx, async ({ scope, job }) => {
    // Only its own agent: one that is closing ends its jobs, and is not listed any more.
    const agent = agents.list().find((one) => one.scope === scope)
    if (!agent) return
    const title = ctx.get('credentials')?.redact(job.title) ?? job.title
    const inserted = [{ queue: 'next-step' as const, message: notice(job, title) }]
    await agent.session.append([inboxSplice({ inserted, cause: 'send' })])
  })
}

/** Nothing of the output is in it: a command cannot put words into the harness's mouth. */
function notice(job: Job, title: string): Message {
  const words = escapeControls(title.slice(0, MAX_TITLE).toWellFormed())
  const text = `Background ${job.id} (${words}) has ended: ${jobText(job)}.`
  return textMessage(newId(), 'user', text, { kind: 'plugin', row: 'core-job', form: 'notice' })
}
