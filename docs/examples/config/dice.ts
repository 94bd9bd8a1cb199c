import { randomInt } from 'node:crypto'
import { definePlugin } from '@cordage/core/kernel'
import { defineTool } from '@cordage/core/tool'
import { z } from 'zod'

const config = z.strictObject({
  /** Of each die. */
  sides: z.number().int().min(2).default(6),
  maxDice: z.number().int().min(1).default(10),
})

type DiceConfig = z.output<typeof config>

export default definePlugin({
  name: 'tool-dice',
  inject: ['tools'],
  config,
  apply(ctx, settings) {
    ctx.tools.register(ctx, dice(settings))
  },
})

function dice({ sides, maxDice }: DiceConfig) {
  return defineTool({
    name: 'roll',
    description: `Rolls dice of ${sides} sides.`,
    parameters: z.strictObject({ count: z.number().int().min(1).max(maxDice) }),
    effects: () => [],
    execute: async ({ count }) => Array.from({ length: count }, () => randomInt(sides) + 1),
    render: (rolled) => `Rolled ${rolled.join(', ')}`,
  })
}
