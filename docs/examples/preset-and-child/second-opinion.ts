import type { Agent } from '@cordage/core/agent'
import { definePlugin, type PluginContext } from '@cordage/core/kernel'
import { textOf } from '@cordage/core/message'
import { defineTool, type ToolRun } from '@cordage/core/tool'
import { z } from 'zod'

const parameters = z.strictObject({ question: z.string().min(1) })
const preset = 'reviewer'

type Needs = PluginContext<'agents' | 'sessions'>

export default definePlugin({
  name: 'tool-second-opinion',
  inject: ['tools', 'agents', 'sessions'],
  apply(ctx) {
    ctx.tools.register(
      ctx,
      defineTool({
        name: 'second_opinion',
        description: 'Asks somebody who may read everything here and change nothing.',
        parameters,
        effects: () => [{ kind: 'spawn', preset }],
        execute: ({ question }, run) => askReviewer(ctx, question, run),
      }),
    )
  },
})

async function askReviewer(ctx: Needs, question: string, run: ToolRun): Promise<string> {
  const parent = ctx.agents.get(run.sessionId)
  if (!parent) return 'Nobody is asking.'
  const child = await spawnReviewer(ctx, parent)
  run.signal.addEventListener('abort', () => void child.cancel('the parent was cancelled'))
  try {
    await child.send(question, { wake: false })
    const outcome = await child.wake()
    return outcome?.answer ? textOf(outcome.answer) : `No opinion: ${outcome?.reason}`
  } finally {
    await child.close()
  }
}

/** A child has a session of its own, its parent's budget, and never more authority than it. */
async function spawnReviewer(ctx: Needs, parent: Agent): Promise<Agent> {
  const { id, project, depth } = parent.session.header
  const origin = { id, kind: 'spawn' as const }
  const session = await ctx.sessions.create({ project, preset, depth: depth + 1, parent: origin })
  const authority = { mode: 'read-only' as const, writableRoots: [] }
  return ctx.agents.spawn({ session, choice: parent.choice, authority, parent })
}
