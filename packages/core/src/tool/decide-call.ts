import { effectText } from '../policy/index.ts'
import { newId } from '../message/index.ts'
import type { Actor, Answer, ApprovalAnswer, Effect, Policy } from '../policy/index.ts'
import { approvalAsked, approvalDecided } from '../session/index.ts'
import type { ToolBatch } from './tool-batch.ts'
import { toolError } from './errors.ts'
import type { GuardAnswer } from './guard-chain.ts'
import { preExecute, type CallContext } from './hooks.ts'

/** A question about a call: what would happen, and why it is not simply allowed. */
interface Question {
  readonly effects: readonly Effect[]
  readonly reason: string
}

/**
 * Merges the guards' answer with the policy's on every effect, to the strictest, and asks a person
 * once where any of them asks. Returns what was approved; throws `TOOL_DENIED`.
 */
export async function decideCall(
  batch: ToolBatch,
  context: CallContext,
  actor: () => Actor,
): Promise<readonly Effect[]> {
  const tool = context.call.name
  const guarded = await preExecute.run(batch.ctx, context, batch.scope)
  // A guard that was left behind may still come to an answer, which is nobody's any more.
  batch.signal.throwIfAborted()
  if (guarded.answer === 'deny') throw toolError('TOOL_DENIED', { tool, reason: guarded.reason })
  const policy = batch.ctx.get('policy')
  if (!policy) {
    throw toolError('TOOL_DENIED', { tool, reason: 'no policy is loaded (row core-policy)' })
  }
  const question = judgeEffects(policy, context, actor(), guarded)
  if (!question) return []
  const answer = await askPerson(batch, context, actor(), question)
  if (answer.outcome !== 'allowed') {
    throw toolError('TOOL_DENIED', { tool, reason: refusalText(question, answer) })
  }
  // What was denied while the person thought stays denied.
  judgeEffects(policy, context, actor(), guarded)
  if (answer.scope && answer.scope !== 'once') {
    for (const effect of question.effects) policy.grant(effect, actor(), answer.scope)
  }
  return question.effects
}

/** Throws on the first denial; otherwise what there is to ask about, if anything. */
function judgeEffects(
  policy: Policy,
  { call, effects }: CallContext,
  actor: Actor,
  guarded: GuardAnswer,
): Question | undefined {
  const judged = effects.map((effect) => ({ effect, ...policy.decide(effect, actor) }))
  const words = (answer: Answer) => {
    return judged
      .filter((each) => each.answer === answer)
      .map((each) => `${effectText(each.effect)}: ${each.reason}`)
  }
  const [denied] = words('deny')
  if (denied !== undefined) throw toolError('TOOL_DENIED', { tool: call.name, reason: denied })
  const asked = words('ask')
  if (guarded.answer === 'ask') asked.unshift(guarded.reason)
  if (asked.length === 0) return undefined
  const asking = judged.filter(({ answer }) => answer === 'ask').map(({ effect }) => effect)
  return { effects: asking.length > 0 ? asking : effects, reason: asked.join('; ') }
}

async function askPerson(
  { ctx, session, scope, signal, waiting }: ToolBatch,
  { call }: CallContext,
  actor: Actor,
  question: Question,
): Promise<ApprovalAnswer> {
  const id = newId()
  const approvals = ctx.get('approvals')
  const effects = question.effects.map((effect) => ({ ...effect }))
  const asked = { id, tool: call.name, effects, reason: question.reason }
  await session.append([approvalAsked({ ...asked, callId: call.id })])
  const nobody: ApprovalAnswer = { outcome: 'unanswered', by: 'nobody' }
  waiting?.(`approval of ${call.name}`)
  const answer = (await approvals?.ask({ ...asked, actor }, signal, scope)) ?? nobody
  waiting?.(undefined)
  const { outcome, by } = answer
  const optional = {
    ...(answer.scope ? { scope: answer.scope } : {}),
    ...(answer.reason === undefined ? {} : { reason: answer.reason }),
  }
  await session.append([approvalDecided({ id, outcome, by, ...optional })])
  return answer
}

function refusalText(question: Question, answer: ApprovalAnswer): string {
  const why = answer.reason === undefined ? '' : ` (${answer.reason})`
  const who = answer.outcome === 'denied' ? `${answer.by} said no` : 'nobody approved it'
  return `${who}${why}. It needs approval: ${question.reason}`
}
