import { claimable } from '../agent/index.ts'
import { newId, textMessage, textOf, type Message } from '../message/index.ts'
import type { ModelInfo, ResolvedModel } from '../model/index.ts'
import type { AssembledPrompt } from '../prompt/index.ts'
import {
  contextMessage,
  inboxSplice,
  stepStart,
  systemMessage,
  userMessage,
  type InboxEntry,
  type NewFact,
  type Session,
  type SurfaceEntry,
} from '../session/index.ts'
import type { ResolvedToolSet } from '../tool/index.ts'
import { askHook } from './ask-hook.ts'
import { bounded } from './bounded.ts'
import { countSame } from './count-same.ts'
import { headerFacts } from './header.ts'
import { preStep, type PreStepInput, type PreStepResult } from './hooks.ts'
import { effectiveParams, supported } from './params.ts'
import type { TurnRun } from './run.ts'

/** A step that has begun: its inputs are in the log, and frozen for every attempt. */
export interface EnteredStep {
  readonly kind: 'entered'
  readonly step: number
  readonly model: ResolvedModel
  readonly toolset: ResolvedToolSet
}

export type EnterResult =
  | EnteredStep
  | { readonly kind: 'nothing' }
  | { readonly kind: 'rejected'; readonly reason: string }

/**
 * Begins a step. The inbox is only peeked at until one batch claims its entries together with
 * everything the request needs: a throw or a cancellation before that leaves it untouched.
 */
export async function enterStep(run: TurnRun, atTurnStart: boolean): Promise<EnterResult> {
  const { agent, signal, turn } = run
  const { models, tools, prompt: prompts } = run.services
  const { session } = agent
  const step = atTurnStart ? 1 : session.turn.step + 1
  const entries = claimable(session.inbox, atTurnStart)
  const { choice } = agent
  const standIn = run.standIns.get(choice.model)
  const model = models.resolve(standIn ?? choice.model)
  const params = effectiveParams(standIn ? supported(choice.params, model) : choice.params, model)
  const toolset = tools.resolve(agent.scope, { ...model, input: model.info.input })
  const messages = [...entries.map((entry) => entry.message), ...run.notes]

  await bounded(run, 'The route', () => run.requests.recall(session, models))
  run.waiting('the prompt')
  const input = promptInput(run, step, model, toolset)
  const write = () => prompts.assemble(agent.scope, input)
  const prompt = await bounded(run, 'The prompt assembly', write)
  signal.throwIfAborted()
  const verdict = await askHook(
    run,
    preStep,
    { agent, turn, step, model, entries, messages, signal },
    { otherwise: enterAll, isUsable: isVerdict },
  )
  signal.throwIfAborted()
  // Somebody changed an entry while the hooks thought: the step is another one now.
  if (!areNext(entries, session, atTurnStart)) return enterStep(run, atTurnStart)
  if (verdict.kind === 'reject') {
    await hold(session, entries, verdict.reason)
    return { kind: 'rejected', reason: verdict.reason }
  }
  if (atTurnStart && verdict.messages.length === 0) {
    // Left in the inbox they would open one turn after the other.
    if (entries.length > 0) await session.append([claim(entries)])
    return { kind: 'nothing' }
  }

  agent.account.reserve('step')
  const facts = [
    ...(entries.length > 0 ? [claim(entries)] : []),
    stepStart({ turn, step }),
    ...promptFacts(run, prompt, model.info),
    ...verdict.messages.map((message) => userMessage({ message })),
    ...headerFacts(session.requestHeader, {
      model,
      params,
      toolset,
      sections: prompt.sections,
      ...(standIn ? { insteadOf: choice } : {}),
    }),
  ]
  // The start of the first attempt follows at once, and takes them to the disk.
  await session.append(facts, { later: true })
  run.notes.length = 0
  return { kind: 'entered', step, model, toolset }
}

const enterAll = ({ messages }: PreStepInput): PreStepResult => ({ kind: 'enter', messages })

function isVerdict(verdict: PreStepResult): boolean {
  if (verdict.kind === 'reject') return typeof verdict.reason === 'string'
  return verdict.kind === 'enter' && Array.isArray(verdict.messages)
}

/** Whether a step would still claim them, as they are and in this order, whatever has come since. */
function areNext(
  entries: readonly InboxEntry[],
  { inbox }: Session,
  atTurnStart: boolean,
): boolean {
  return countSame(entries, claimable(inbox, atTurnStart)) === entries.length
}

function claim(entries: readonly InboxEntry[]): NewFact {
  return inboxSplice({ removed: entries.map((entry) => entry.message.id), cause: 'claim' })
}

async function hold(session: Session, entries: readonly InboxEntry[], reason: string) {
  const held = entries.map((entry) => ({ id: entry.message.id, reason }))
  if (held.length > 0) await session.append([inboxSplice({ held, cause: 'hold' })])
}

function promptInput(run: TurnRun, step: number, model: ResolvedModel, toolset: ResolvedToolSet) {
  const { session } = run.agent
  return {
    sessionId: session.id,
    project: session.header.project,
    cwd: session.cwd,
    provider: model.provider,
    model: model.model,
    turn: run.turn,
    step,
    toolNames: [...toolset.tools.keys()],
    signal: run.signal,
  }
}

/**
 * The system prompt, where it is not what the model has: in front, or after history on models that
 * take it there. A model that does not gets what an earlier one left in history back in front.
 */
export function systemFacts(
  surface: readonly SurfaceEntry[],
  versions: readonly SurfaceEntry[],
  { text, info }: { text: string; info: ModelInfo },
): NewFact[] {
  const last = versions.at(-1)
  const inHistory = info.systemPromptUpdate === 'in-history' && surface.length > 0 && text !== ''
  const inPlace = inHistory || (versions.length <= 1 && (!last || surface[0] === last))
  if (inPlace && text === (last ? textOf(last.message) : '')) return []
  const source = { kind: 'plugin', row: 'core-prompt', form: 'system' } as const
  const message = textMessage(newId(), 'system', text, source)
  return [systemMessage({ message, placement: inHistory ? 'in-history' : 'front' })]
}

/** The system prompt and the snapshots that differ from what the model has before it. */
function promptFacts(
  { agent, index }: TurnRun,
  prompt: AssembledPrompt,
  info: ModelInfo,
): NewFact[] {
  const { surface, shadowedContexts } = agent.session
  const { systems, contexts } = index.at(surface)
  const facts = systemFacts(surface, systems, { text: prompt.system, info })
  for (const { id, row, text, stability } of prompt.contexts) {
    const last = contexts.get(id)
    const there = last !== undefined && !shadowedContexts.includes(id)
    if (there && textOf(last.message) === text) continue
    const source = { kind: 'plugin', row, form: 'snapshot' } as const
    const message = textMessage(newId(), 'user', text, source)
    facts.push(contextMessage({ id, row, message, stability }))
  }
  return facts
}

/** A message of the loop to the model, shown to people as a notice. */
export function note(text: string): Message {
  return textMessage(newId(), 'user', text, { kind: 'plugin', row: 'core-loop', form: 'notice' })
}
