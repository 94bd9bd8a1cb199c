import { definePlugin } from '@cordage/core/kernel'
import { defineTool } from '@cordage/core/tool'
import { z } from 'zod'

const config = z.strictObject({
  /** What stands before the name. */
  greeting: z.string().default('Hello'),
})

const parameters = z.strictObject({ name: z.string().min(1).describe('Whom to greet') })

export default definePlugin({
  name: '{{name}}',
  inject: ['tools'],
  config,
  apply: (ctx, { greeting }) => {
    ctx.tools.register(ctx, greet(greeting))
  },
})

function greet(greeting: string) {
  return defineTool({
    name: '{{word}}',
    description: 'Greets somebody by name.',
    parameters,
    // It reads and writes nothing. What a tool does not declare, it may not do.
    effects: () => [],
    execute: async ({ name }) => `${greeting}, ${name}!`,
    concurrent: () => true,
  })
}
