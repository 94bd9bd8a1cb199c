import { z } from 'zod'
import { definePlugin, own, type Plugin } from '../kernel/index.ts'
import { createTools } from './registry.ts'

const config = z.strictObject({
  maxInlineChars: z
    .number()
    .int()
    .min(1000)
    .default(30_000)
    .describe('A longer result is cut in the middle and kept whole in a blob.'),
})

const plugin: Plugin<z.output<typeof config>> = definePlugin({
  name: 'core-tool',
  provides: ['tools'],
  config,
  apply(ctx, { maxInlineChars }) {
    own(ctx, 'tools', createTools(maxInlineChars))
  },
})

export default plugin
