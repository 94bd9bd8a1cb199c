import { inspectPlace } from '@cordage/core/agent'
import { definePlugin, scopeOf, type Plugin } from '@cordage/core/kernel'
import { postExecute } from '@cordage/core/tool'
import type { PromptInput } from '@cordage/core/prompt'
import { z } from 'zod'
import { AgentInstructions } from './agent-instructions.ts'
import { overBudget } from './over-budget.ts'
import { createReader } from './reader.ts'

const config = z.strictObject({
  names: z
    .array(z.string())
    .default(['AGENTS.md', 'CLAUDE.md', 'AGENTS.local.md', 'CLAUDE.local.md'])
    .describe('In each directory, every one of these that exists is read, in this order.'),
  maxBytes: z
    .number()
    .int()
    .min(0)
    .default(65_536)
    .describe(
      'UTF-8 bytes of the files of a person, and as many of those of a project: broad ones are ' +
        'left out whole, then the nearest is cut.',
    ),
  tools: z
    .array(z.string())
    .default(['read', 'write', 'edit', 'apply_patch', 'list', 'glob', 'grep'])
    .describe('A path that one of these has used brings the files of the directories above it.'),
})

const plugin: Plugin<z.infer<typeof config>> = definePlugin({
  name: 'context-instructions',
  inject: ['prompt', 'fs', 'policy', 'agents', 'host'],
  config,
  apply(ctx, { tools, ...options }) {
    const own = scopeOf(ctx)
    const reader = createReader(ctx.fs, options.maxBytes)
    const known = new Map<string, AgentInstructions>()
    const contexts = new Set<string>()

    const add = (id: string, order: number) => {
      if (contexts.has(id)) return
      contexts.add(id)
      const render = async (input: PromptInput) => known.get(input.sessionId)?.render(id, input)
      ctx.prompt.context(ctx, { id, stability: 'per-session', order, render })
    }
    add('instructions-user', -11)
    add('instructions', -10)

    ctx.agents.onSpawn(ctx, (agent) => {
      // A child has the row in a scope of its own.
      if (own && agent.scope !== own) return
      const place = { ...options, ctx, reader, agent, found: (id: string) => add(id, -9) }
      known.set(agent.id, new AgentInstructions(place))
      agent.scope.ctx.effect(() => () => known.delete(agent.id))
    })
    inspectPlace.use(ctx, async (place, next) => {
      const { home } = ctx.host
      return [...(await next()), ...(await overBudget({ ...options, reader, home }, place))]
    })
    postExecute.use(ctx, async (ended, next) => {
      const shown = await next()
      if (shown.isError || !tools.includes(ended.call.name)) return shown
      await known.get(ended.actor.sessionId)?.touch(ended.effects)
      return shown
    })
  },
})

export default plugin
