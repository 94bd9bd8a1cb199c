import type { TurnOutcome } from '@cordage/core/agent'
import type { Invocation } from '@cordage/core/command'
import { definePlugin, own, type PluginContext } from '@cordage/core/kernel'
import { textOf } from '@cordage/core/message'
import { modelError } from '@cordage/core/model'
import { toolCall } from '@cordage/core/session'

type Needs = PluginContext<'agents' | 'models' | 'sessions'>

/** A way in: it makes an agent, gives it the task, and renders the log as it grows. */
export default definePlugin({
  name: 'frontend-bare',
  provides: ['frontend'],
  inject: ['agents', 'models', 'sessions'],
  apply(ctx) {
    own(ctx, 'frontend', { run: (invocation) => runTask(ctx, invocation) })
  },
})

async function runTask(ctx: Needs, invocation: Invocation): Promise<number> {
  const { task = '', cwd, limits, signal, terminal } = invocation
  const agent = await ctx.agents.spawn({
    session: await ctx.sessions.create({ project: cwd, depth: 0 }),
    choice: { model: chooseModel(ctx, invocation), params: {} },
    authority: { mode: invocation.permission ?? 'workspace-write', writableRoots: [cwd] },
    limits,
  })
  signal.addEventListener('abort', () => void agent.cancel(String(signal.reason)))
  agent.session.watch(ctx, (update) => {
    const called = update.kind === 'fact' && toolCall.is(update.fact)
    if (called) terminal.err(`${update.fact.data.name}\n`)
  })
  try {
    await agent.send(task, { wake: false })
    const outcome = await agent.wake()
    terminal.out(`${answerOf(outcome)}\n`)
    return outcome?.reason === 'completed' ? 0 : 1
  } finally {
    await agent.close()
  }
}

function chooseModel({ models }: Needs, { model }: Invocation): string {
  const first = models.default()
  if (model !== undefined) return model
  if (first) return `${first.provider}/${first.model}`
  throw modelError('MODEL_NONE', { ways: 'what `cordage models list` names' })
}

function answerOf(outcome?: TurnOutcome): string {
  return outcome?.answer ? textOf(outcome.answer) : (outcome?.error?.message ?? 'nothing to do')
}
