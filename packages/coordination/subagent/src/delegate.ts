import { agentError, type Agent, type TurnOutcome } from '@cordage/core/agent'
import type { HarnessError } from '@cordage/core/error'
import type { Totals } from '@cordage/core/ledger'
import { textOf } from '@cordage/core/message'
import { sessionChild, toolCall } from '@cordage/core/session'
import type { ToolRun } from '@cordage/core/tool'
import { subagentError } from './errors.ts'
import type { Delegation, DelegationSettings, SubagentContext } from './settings.ts'
import { startChild } from './start-child.ts'

/** What a child comes to. */
export interface Report extends Omit<Totals, 'unpriced'> {
  /** The child's: its log has all it did. */
  readonly session: string
  /** Its last answer. */
  readonly text: string
}

const MAX_LAST_WORDS = 4_000

/** Has a child do the task, and ends it. Throws what a model can act upon. */
export async function delegate(
  ctx: SubagentContext,
  task: Delegation,
  run: ToolRun,
  settings: DelegationSettings,
): Promise<Report> {
  const parent = ctx.agents.get(run.sessionId)
  if (!parent) throw agentError('AGENT_CLOSED', { id: run.sessionId })
  const giveBack = settings.runs.take(parent)
  const child = await startChild(ctx, parent, task, settings).catch((error: unknown) => {
    giveBack()
    throw error
  })
  try {
    run.signal.throwIfAborted()
    await tellStart(parent, child, task, run)
    return reportOf(child, await follow(child, run))
  } finally {
    await child.close()
  }
}

/** So that people, and whoever comes after a crash, can tell whose work it was. */
async function tellStart(
  parent: Agent,
  child: Agent,
  { kind, description }: Delegation,
  run: ToolRun,
): Promise<void> {
  const { turn } = parent.session.turn
  const { id: session } = child
  const { callId } = run
  await parent.session.append([sessionChild({ session, kind, description, turn, callId })])
  run.progress(`${session}\n`)
  child.session.watch(child.scope.ctx, (update) => {
    if (update.kind === 'fact' && toolCall.is(update.fact)) {
      run.progress(`→ ${update.fact.data.name}\n`)
    }
  })
}

/** To the end of what the child has to do. Throws the reason of the call's signal. */
async function follow(child: Agent, { signal }: ToolRun): Promise<TurnOutcome | undefined> {
  const stop = () => void child.cancel('the call of its parent ended')
  signal.addEventListener('abort', stop, { once: true })
  try {
    const turn = child.wake()
    if (signal.aborted) stop()
    let last = await turn
    // Somebody may have said something to the child meanwhile: its last word counts.
    while (child.status.kind === 'running') last = (await child.wake()) ?? last
    signal.throwIfAborted()
    return last
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

function reportOf(child: Agent, outcome: TurnOutcome | undefined): Report {
  const { steps, toolCalls, usage, costUsd } = child.account.totals
  if (outcome?.reason !== 'completed' || !outcome.answer) throw failureOf(child, outcome)
  return { session: child.id, text: textOf(outcome.answer), steps, toolCalls, usage, costUsd }
}

/** With what the child said last, which may be half of what was wanted. */
function failureOf(child: Agent, outcome: TurnOutcome | undefined): HarnessError {
  const { surface, turn } = child.session
  const said = surface.findLast(({ message, step }) => {
    return message.role === 'assistant' && step?.turn === turn.turn
  })
  const words = said ? textOf(said.message).slice(-MAX_LAST_WORDS).toWellFormed() : ''
  const { reason = 'no answer', error } = outcome ?? {}
  const why = error ? `${reason}: ${error.code}, ${error.message}` : reason
  const help = words === '' ? {} : { help: `It said last:\n${words}` }
  const details = { session: child.id, ...(error ? { cause: error.code } : {}), ...help }
  return subagentError('SUBAGENT_FAILED', { reason: why }, { details })
}
