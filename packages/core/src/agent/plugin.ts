import { z } from 'zod'
import { definePlugin, own, type Plugin } from '../kernel/index.ts'
import { createAgents } from './agents.ts'
import { announceJobs } from './job-notices.ts'
import { queueCommand } from './queue-command.ts'

const config = z.strictObject({
  maxDepth: z
    .number()
    .int()
    .min(0)
    .default(1)
    .describe('How deep below an agent that a person started children may be; 0 for none.'),
  maxConcurrentChildren: z
    .number()
    .int()
    .min(1)
    .default(8)
    .describe('Live children, and theirs, of one agent that a person started.'),
})

const plugin: Plugin<z.output<typeof config>> = definePlugin({
  name: 'core-agent',
  provides: ['agents'],
  inject: ['sessions', 'ledger'],
  config,
  apply(ctx, limits) {
    const agents = createAgents(ctx, limits)
    announceJobs(ctx, agents)
    ctx.inject(['commands'], (inner) => inner.commands.register(inner, queueCommand))
    own(ctx, 'agents', agents, () => agents.close())
  },
})

export default plugin
