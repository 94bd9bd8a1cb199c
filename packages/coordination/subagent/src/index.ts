import { definePlugin } from '@cordage/core/kernel'
import { z } from 'zod'
import { delegationTool } from './delegation-tool.ts'
import { hideTools } from './hide-tools.ts'
import { countRuns } from './run-budget.ts'

const MAX_TIMER_MS = 2 ** 31 - 1

const limit = z.number().int().min(1).optional()

const config = z.strictObject({
  maxDelegationsPerRun: z
    .number()
    .int()
    .min(1)
    .default(16)
    .describe('Children that an agent may start in one of its turns.'),
  maxSteps: z.number().int().min(1).default(100).describe('Steps of each child.'),
  maxToolCalls: limit.describe('Tool calls of each child.'),
  maxTokens: limit.describe('Tokens of each child, in and out.'),
  maxCostUsd: z.number().positive().optional().describe('What each child may spend.'),
  timeoutMs: z
    .number()
    .int()
    .min(1)
    .max(MAX_TIMER_MS)
    .default(3_600_000)
    .describe('A child that has not reported for so long is stopped.'),
  approvals: z
    .enum(['refuse', 'ask'])
    .default('refuse')
    .describe('What a child would have to ask a person for: refused, or asked as for its parent.'),
})

export type SubagentConfig = z.output<typeof config>

/** Children that do a task in a session of their own and report once. */
export default definePlugin({
  name: '@cordage/subagent',
  inject: ['tools', 'agents', 'sessions', 'store'],
  config,
  apply(ctx, settings) {
    ctx.agents.onSpawn(ctx, (agent) => hideTools(ctx, agent))
    const runs = countRuns(settings.maxDelegationsPerRun)
    ctx.tools.register(ctx, delegationTool(ctx, 'spawn', { ...settings, runs }))
    ctx.tools.register(ctx, delegationTool(ctx, 'fork', { ...settings, runs }))
  },
})
