import { isHarnessError } from '@cordage/core/error'
import { log, rowOf, type Next, type PluginContext } from '@cordage/core/kernel'
import { capture, type PreStepInput, type PreStepResult } from '@cordage/core/loop'
import { typedOf, type Message } from '@cordage/core/message'
import { inboxSplice } from '@cordage/core/session'
import { mentionsIn } from './mentions.ts'
import type { ReferenceContext, ReferenceLimits } from './take-references.ts'

/**
 * Puts behind the messages of people what they name. Nothing else names anything: no file, no
 * result, nothing that came through a pipe or from an agent.
 */
export async function addReferences(
  ctx: ReferenceContext,
  limits: ReferenceLimits,
  input: PreStepInput,
  next: Next<PreStepInput, PreStepResult>,
): Promise<PreStepResult> {
  const { agent, step, signal } = input
  const taken = new Map<string, readonly Message[]>()
  for (const { message } of agent.parent ? [] : input.entries) {
    const mentions = mentionsIn(typedOf(message))
    if (mentions.sessions.length + mentions.words.length === 0) continue
    const asked = { agent, step, row: rowOf(ctx), message, signal }
    // Only who names something pays for it.
    const take = async () => {
      const { takeReferences } = await import('./take-references.ts')
      return takeReferences(ctx, limits, { mentions, input })
    }
    try {
      taken.set(message.id, await capture.run(ctx, asked, take, agent.scope))
    } catch (error) {
      if (!isHarnessError(error) || !error.code.startsWith('REFERENCE_')) throw error
      return refuse(ctx, input, message, `${error.message.replace(/\.$/, '')} [${error.code}]`)
    }
  }
  if (taken.size === 0) return next()
  const messages = input.messages.flatMap((one) => [one, ...(taken.get(one.id) ?? [])])
  return next({ ...input, messages })
}

/** The message waits until it says something else; a turn that is under way goes on without it. */
async function refuse(
  ctx: PluginContext<never>,
  { agent: { session }, step }: PreStepInput,
  { id }: Message,
  reason: string,
): Promise<PreStepResult> {
  const hasAnswered = session.surface.at(-1)?.message.role === 'assistant'
  if (step > 1 && !hasAnswered) {
    log(ctx, 'warn', 'a message waits', { session: session.id, reason })
    // The step is begun anew, for the inbox is another one now.
    await session.append([inboxSplice({ held: [{ id, reason }], cause: 'hold' })])
  }
  return { kind: 'reject', reason }
}
