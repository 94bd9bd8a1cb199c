import { hasInput, type Agent, type ModelChoice, type TurnOutcome } from '@cordage/core/agent'
import type { CommandResult, Invocation } from '@cordage/core/command'
import type { HarnessError } from '@cordage/core/error'
import { modelError } from '@cordage/core/model'
import type { Session } from '@cordage/core/session'
import type { HeadlessContext } from './context.ts'
import { headlessError } from './errors.ts'
import { exitOf } from './exit.ts'
import { createReport } from './report.ts'
import { nameSession, openSession, whatIsGone, whichToolsAreGone } from './session.ts'

export async function runTask(ctx: HeadlessContext, invocation: Invocation): Promise<number> {
  const session = await openSession(ctx, invocation)
  const gone = invocation.session.kind === 'new' ? [] : await whatIsGone(ctx, session)
  const wasInterrupted = session.turn.open
  const choice = chooseModel(ctx, invocation, session)
  const agent = await ctx.agents.spawn({
    session,
    choice,
    authority: {
      mode: invocation.permission ?? 'workspace-write',
      writableRoots: [session.header.project],
    },
    limits: invocation.limits,
  })
  try {
    const report = createReport(ctx, agent, invocation)
    report.begin([...session.notices, ...agent.notices, ...gone, ...whichToolsAreGone(ctx, agent)])
    const command = await runCommand(ctx, agent, invocation)
    if (command?.text !== undefined) {
      report.said(command.text)
      return 0
    }
    const { typed = invocation.task } = invocation
    const task = { ...invocation, ...command, ...(typed === undefined ? {} : { typed }) }
    const outcome = await drive(ctx, agent, task, wasInterrupted)
    report.end(outcome)
    return exitOf(outcome)
  } finally {
    await agent.close()
  }
}

/** A task in the form `/name arguments` is for the harness, unless it makes a task of itself. */
async function runCommand(
  ctx: HeadlessContext,
  agent: Agent,
  { task, signal }: Invocation,
): Promise<CommandResult | undefined> {
  return task === undefined ? undefined : ctx.get('commands')?.run(task, agent, signal)
}

async function drive(
  ctx: HeadlessContext,
  agent: Agent,
  { task, typed, signal, interrupted = false }: Invocation,
  wasInterrupted: boolean,
): Promise<TurnOutcome> {
  const cancel = () => void agent.cancel(String(signal.reason))
  signal.addEventListener('abort', cancel, { once: true })
  try {
    const waits = hasInput(agent.session.inbox)
    if (interrupted || (task === undefined && !waits && wasInterrupted)) await agent.goOn()
    if (task !== undefined) {
      await agent.send(task, { wake: false, typed })
      // After the prompt: a session that has anything at all has what it was asked.
      await nameSession(ctx, agent.session, typed || task)
    }
    const turn = agent.wake()
    // Only now is there something to cancel: an abort that came earlier told nobody.
    if (signal.aborted) cancel()
    let last = await turn
    if (!last) throw headlessError('TASK_MISSING')
    // Input that was queued before the crash opens turns of its own: the last one counts.
    while (agent.status.kind === 'running') last = (await agent.wake()) ?? last
    return last
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

/** The model asked for, else the one the session used, else the first that has a credential. */
function chooseModel(ctx: HeadlessContext, invocation: Invocation, session: Session): ModelChoice {
  const before = invocation.model ? undefined : chosenBefore(session)
  const model = invocation.model ?? before?.model ?? defaultModel(ctx)
  if (model === undefined) throw noModel(ctx)
  ctx.models.resolve(model)
  const effort = invocation.effort ?? before?.params.effort
  return { model, params: effort === undefined ? {} : { effort } }
}

/** Not what stood in for it when the last turn ended. */
function chosenBefore({ requestHeader }: Session): ModelChoice | undefined {
  if (!requestHeader) return undefined
  const { provider, model, params, insteadOf } = requestHeader
  return insteadOf ?? { model: `${provider}/${model}`, params }
}

function defaultModel(ctx: HeadlessContext): string | undefined {
  const chosen = ctx.models.default()
  return chosen && `${chosen.provider}/${chosen.model}`
}

function noModel(ctx: HeadlessContext): HarnessError {
  const names = ctx.models.providers().flatMap((provider) => provider.apiKeyEnv ?? [])
  return modelError('MODEL_NONE', { ways: names.join(', ') })
}
