import { setTimeout as sleep } from 'node:timers/promises'
import type { Job } from '@cordage/core/job'
import type { Context } from '@cordage/core/kernel'
import { inboxSplice, type InboxEntry, type Session } from '@cordage/core/session'
import type { ToolRun } from '@cordage/core/tool'

/**
 * Waits until `job` has ended, at most `ms`, and no longer than until a person says something for
 * the next step. Throws the reason of the call's signal.
 */
export async function waitForEnd(ctx: Context, job: Job, ms: number, run: ToolRun): Promise<void> {
  if (ms === 0 || job.state !== 'running') return
  const session = ctx
    .get('sessions')
    ?.list()
    .find(({ id }) => id === run.sessionId)
  const done = new AbortController()
  const late = sleep(ms, undefined, { signal: AbortSignal.any([run.signal, done.signal]) })
  try {
    await Promise.race([job.ended, late, ...(session ? [steered(ctx, session, done.signal)] : [])])
  } catch (error) {
    run.signal.throwIfAborted()
    throw error
  } finally {
    done.abort()
  }
}

function steered(ctx: Context, session: Session, done: AbortSignal): Promise<void> {
  if (session.inbox.some(isSteer)) return Promise.resolve()
  return new Promise((resolve) => {
    const stop = session.watch(ctx, (update) => {
      if (update.kind !== 'fact' || !inboxSplice.is(update.fact)) return
      if (update.fact.data.inserted?.some(isSteer)) resolve()
    })
    done.addEventListener('abort', stop, { once: true })
  })
}

/** Not the notice of another job. */
function isSteer({ queue, message }: Pick<InboxEntry, 'queue' | 'message'>): boolean {
  return queue === 'next-step' && message.source.kind === 'user'
}
