import type { Agent } from '@cordage/core/agent'
import { describeFailure, log } from '@cordage/core/kernel'
import { newId, textMessage } from '@cordage/core/message'
import { inboxSplice, sessionDirectory, sessionTitle, type Session } from '@cordage/core/session'
import type { Delegation, DelegationSettings, SubagentContext } from './settings.ts'
import type { DelegationKind } from './tool-names.ts'

const introductions: Readonly<Record<DelegationKind, string>> = {
  spawn: 'You are the child of another agent and do one task for it.',
  fork: 'From here on you are a child of the agent above and do one task for it.',
}
const manners =
  'Nobody answers questions, and what you may not do stays so: report it instead. ' +
  'Your last message is your report, and all that it sees of your work.'

/**
 * Starts a child whose task waits in its inbox. Throws what `spawn` and the store throw, and
 * leaves no session behind then.
 */
export async function startChild(
  ctx: SubagentContext,
  parent: Agent,
  task: Delegation,
  settings: DelegationSettings,
): Promise<Agent> {
  let made: Session | undefined
  try {
    const child = await ctx.agents.spawn({
      session: async () => {
        made = await makeSession(ctx, parent, task.kind)
        await prepare(made, parent, task)
        return made
      },
      preset: parent.preset,
      choice: parent.choice,
      authority: parent.authority,
      limits: limitsOf(settings),
      parent,
    })
    if (settings.approvals === 'refuse') refuseApprovals(ctx, child)
    return child
  } catch (error) {
    if (made) await discard(ctx, made)
    throw error
  }
}

async function makeSession(
  { sessions }: SubagentContext,
  { session: { id, header, turn } }: Agent,
  kind: DelegationKind,
): Promise<Session> {
  const { project, preset } = header
  const depth = header.depth + 1
  // Of the present turn only half is there, and the call that asks for the child is part of it.
  if (kind === 'fork') return sessions.fork(id, { turn: turn.turn, depth })
  const own = preset === undefined ? {} : { preset }
  return sessions.create({ project, depth, parent: { id, kind: 'spawn' }, ...own })
}

async function prepare(
  session: Session,
  parent: Agent,
  { kind, description, prompt }: Delegation,
): Promise<void> {
  const { cwd } = parent.session
  const text = `${introductions[kind]} ${manners}\n\n${prompt}`
  const source = { kind: 'plugin', row: 'subagent', form: 'relay' } as const
  const message = textMessage(newId(), 'user', text, source)
  await session.append([
    sessionTitle({ title: description, by: 'model' }),
    ...(session.cwd === cwd ? [] : [sessionDirectory({ cwd })]),
    inboxSplice({ inserted: [{ queue: 'next-turn', message }], cause: 'send' }),
  ])
}

function limitsOf({ maxSteps, maxToolCalls, maxTokens, maxCostUsd }: DelegationSettings) {
  return {
    maxSteps,
    ...(maxToolCalls === undefined ? {} : { maxToolCalls }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(maxCostUsd === undefined ? {} : { maxCostUsd }),
  }
}

/** What a person would have to be asked for is refused, and the child told so. */
function refuseApprovals(ctx: SubagentContext, { scope }: Agent): void {
  const reason = 'a child asks nobody: it reports to its parent what it would need'
  const refuse = async () => ({ outcome: 'denied', by: 'subagent', reason }) as const
  ctx.get('approvals')?.answerer(scope.ctx, refuse, { order: -1_000 })
}

/** Best effort: what counts is why there is no child. */
async function discard(ctx: SubagentContext, session: Session): Promise<void> {
  const { id } = session
  try {
    await session.close()
    await ctx.store.delete(id)
  } catch (error) {
    log(ctx, 'warn', `session ${id} of no child is left`, { error: describeFailure(error) })
  }
}
