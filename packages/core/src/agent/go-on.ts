import type { Context } from '../kernel/index.ts'
import { toolCallsOf, type ToolCallPart } from '../message/index.ts'
import '../model/index.ts'
import { assistantMessage, toolResult, type Session, type TurnState } from '../session/index.ts'
import { frame, reconcileCall, type Reconciled } from '../tool/index.ts'
import type { Agent } from './agent.ts'

/** Whether the last turn ended before the model had come to its end. */
export function isCutShort({ open, lastEnd }: TurnState): boolean {
  return open || (lastEnd !== undefined && lastEnd !== 'completed' && lastEnd !== 'blocked')
}

/** What a model is told that is to go on: why it stopped, and of which calls nobody knows. */
export async function goOnText(ctx: Context, agent: Agent): Promise<string> {
  const { session } = agent
  const lines = [reasonText(session.turn)]
  const unknown = await unknownCalls(session)
  if (unknown.length > 0) lines.push('It is unknown what became of these calls:')
  for (const call of unknown) {
    const found = await lookInto(ctx, agent, call)
    lines.push(`- ${call.name} (${call.id}): ${hintOf(found)}`)
    if (found.kind === 'found') lines.push(frame('tool-finding', { tool: call.name }, found.text))
  }
  return lines.join('\n')
}

function reasonText({ lastEnd }: TurnState): string {
  if (lastEnd === 'budget') return 'A budget was used up, and you have a new one. Go on from there.'
  return 'You were interrupted. Go on from where you were.'
}

function hintOf({ kind }: Reconciled): string {
  if (kind === 'repeatable') return 'it may be called again, which changes nothing more.'
  if (kind === 'found') return 'the tool has looked, and says this:'
  return 'look at the present state before you call it again.'
}

/** The calls of the last turn that were begun and whose results nobody has. */
async function unknownCalls(session: Session): Promise<ToolCallPart[]> {
  const { turn } = session.turn
  const first = session.surface.find(({ step }) => step?.turn === turn)
  if (!first) return []
  const calls = new Map<string, ToolCallPart>()
  const unknown: ToolCallPart[] = []
  for await (const fact of session.read(first.seq)) {
    if (assistantMessage.is(fact)) {
      for (const call of toolCallsOf(fact.data.message)) calls.set(call.id, call)
    }
    if (!toolResult.is(fact) || fact.data.error?.code !== 'TOOL_OUTCOME_UNKNOWN') continue
    const call = calls.get(fact.data.callId)
    if (call) unknown.push(call)
  }
  return unknown
}

async function lookInto(ctx: Context, agent: Agent, call: ToolCallPart): Promise<Reconciled> {
  const { session, scope, authority } = agent
  const [models, tools] = [ctx.get('models'), ctx.get('tools')]
  if (!models || !tools) return { kind: 'unknown' }
  const model = models.resolve(agent.choice.model)
  const toolset = tools.resolve(scope, { ...model, input: model.info.input })
  const actor = { sessionId: session.id, agentId: agent.id, authority }
  return reconcileCall({ ctx, session, scope, actor, toolset }, call)
}
