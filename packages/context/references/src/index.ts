import { definePlugin, type Plugin } from '@cordage/core/kernel'
import { preStep } from '@cordage/core/loop'
import { z } from 'zod'
import { addReferences } from './add-references.ts'

const count = (min: number, max: number, value: number) =>
  z.number().int().min(min).max(max).default(value)

const config = z.strictObject({
  maxSessions: count(0, 3, 3).describe('Other sessions that one message may name.'),
  sessionBytes: count(1_024, 65_536, 16_384).describe(
    'Shown of each of them: a quarter from its start, the rest from its end.',
  ),
  maxFiles: count(0, 200, 20).describe('Files and directories that one message may bring.'),
  fileBytes: count(1_024, 1_048_576, 32_768).describe('Shown of each of them.'),
  maxWindowShare: z
    .number()
    .min(0.01)
    .max(1)
    .default(0.25)
    .describe('All that one message brings fills no more of the window.'),
})

/** Gives the model what a person names in a message, as it is when the message is taken. */
const plugin: Plugin<z.output<typeof config>> = definePlugin({
  name: 'context-references',
  inject: ['sessions', 'store', 'fs', 'policy'],
  config,
  apply(ctx, limits) {
    preStep.use(ctx, (input, next) => addReferences(ctx, limits, input, next))
  },
})

export default plugin
