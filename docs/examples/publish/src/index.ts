import { definePlugin } from '@cordage/core/kernel'
import { defineTool } from '@cordage/core/tool'
import { z } from 'zod'

export default definePlugin({
  name: 'tool-hello',
  inject: ['tools'],
  apply(ctx) {
    ctx.tools.register(ctx, hello)
  },
})

/** It touches nothing, so it declares no effects and nobody has to allow it. */
const hello = defineTool({
  name: 'hello',
  description: 'Greets somebody by name.',
  parameters: z.strictObject({ name: z.string().min(1) }),
  effects: () => [],
  execute: async ({ name }) => `Hello, ${name}!`,
})
