import { definePlugin, log, type Plugin } from '@cordage/core/kernel'
import { adviseOnWindows } from './advice.ts'
import { compactCommand } from './command.ts'
import { createCompressor } from './compressor.ts'
import { compactionConfig, type CompactionConfig } from './config.ts'

const plugin: Plugin<CompactionConfig> = definePlugin({
  name: 'context-compaction',
  inject: ['compaction', 'models'],
  config: compactionConfig,
  advise: adviseOnWindows,
  apply(ctx, config) {
    const compressor = createCompressor(ctx.models, config, (model, { headroomTokens }) => {
      const configured = config.headroomTokens
      log(ctx, 'warn', 'the window of a model is too small for the headroom', {
        model,
        configured,
        headroomTokens,
      })
    })
    ctx.compaction.compressor(ctx, compressor)
    ctx.inject(['commands'], (inner) => {
      inner.commands.register(inner, compactCommand(ctx.compaction, ctx.models))
    })
  },
})

export default plugin
