import { definePlugin, own, type Plugin } from '@cordage/core/kernel'
import { z } from 'zod'
import { contextCommand } from './context-command.ts'
import { createMeter } from './meter.ts'

const config = z.strictObject({})

/** Measures what requests take of a window, without asking any model. */
const plugin: Plugin<z.output<typeof config>> = definePlugin({
  name: 'context-meter',
  provides: ['meter'],
  inject: ['commands', 'models'],
  config,
  apply(ctx) {
    const meter = createMeter()
    own(ctx, 'meter', meter)
    ctx.commands.register(ctx, contextCommand(meter, ctx.models))
  },
})

export default plugin
