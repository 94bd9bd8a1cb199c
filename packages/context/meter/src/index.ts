import { definePlugin, own, type Plugin } from '@cordage/core/kernel'
import { z } from 'zod'
import { contextCommand } from './context-command.ts'
import { createMeter } from './meter.ts'

const config = z.strictObject({
  fileTools: z
    .array(z.string())
    .default(['read', 'read_spill'])
    .describe('What these have read counts as files, where the window is broken down.'),
  fileRows: z
    .array(z.string())
    .default(['context-instructions', 'context-references'])
    .describe('And so does what these put into messages.'),
})

/** Measures what requests take of a window, without asking any model. */
const plugin: Plugin<z.output<typeof config>> = definePlugin({
  name: 'context-meter',
  provides: ['meter'],
  inject: ['commands', 'models'],
  config,
  apply(ctx, files) {
    const meter = createMeter(files)
    own(ctx, 'meter', meter)
    ctx.commands.register(ctx, contextCommand(meter, ctx.models))
  },
})

export default plugin
