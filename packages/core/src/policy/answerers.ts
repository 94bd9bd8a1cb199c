import { createRegistry, describeFailure, log, rowOf } from '../kernel/index.ts'
import type { Context } from '../kernel/index.ts'
import type { ApprovalAnswer, ApprovalRequest, Approvals, Answerer } from './policy.ts'

const outcomes = ['allowed', 'denied', 'unanswered']

/** Asks the answerers of a scope in order until one says yes or no. */
export function createApprovals(ctx: Context): Approvals {
  const answerers = createRegistry<Answerer>('answerer')
  let added = 0
  return {
    answerer: (owner, answerer, options) => {
      answerers.add(owner, `${rowOf(owner)}#${added++}`, answerer, options)
    },
    async ask(request, signal, scope) {
      let reason = 'nobody was there to answer'
      for (const { value, row } of answerers.list(scope)) {
        const answer = await consult(ctx, value, { request, signal, row })
        if (signal.aborted) {
          return { outcome: 'unanswered', by: 'cancelled', reason: 'the question was withdrawn' }
        }
        if (answer && answer.outcome !== 'unanswered') return answer
        reason = answer?.reason ?? reason
      }
      return { outcome: 'unanswered', by: 'nobody', reason }
    },
  }
}

/** What an answerer says, or `undefined`; it cannot hold up a question that was withdrawn. */
async function consult(
  ctx: Context,
  answerer: Answerer,
  { request, signal, row }: { request: ApprovalRequest; signal: AbortSignal; row: string },
): Promise<ApprovalAnswer | undefined> {
  if (signal.aborted) return undefined
  const withdrawn = Promise.withResolvers<undefined>()
  const withdraw = () => withdrawn.resolve(undefined)
  signal.addEventListener('abort', withdraw, { once: true })
  try {
    const asked = (async () => answerer(request, signal))()
    const answer = await Promise.race([asked, withdrawn.promise])
    return answer && outcomes.includes(answer.outcome) ? answer : undefined
  } catch (error) {
    log(ctx, 'error', `the answerer of ${row} failed, which is no answer`, {
      error: describeFailure(error),
    })
    return undefined
  } finally {
    signal.removeEventListener('abort', withdraw)
  }
}
