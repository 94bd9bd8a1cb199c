import { definePlugin, type Plugin } from '@cordage/core/kernel'
import { compactCommand } from './command.ts'
import { createCompressor } from './compressor.ts'
import { compactionConfig, type CompactionConfig } from './config.ts'

const plugin: Plugin<CompactionConfig> = definePlugin({
  name: 'context-compaction',
  inject: ['compaction', 'models'],
  config: compactionConfig,
  apply(ctx, config) {
    ctx.compaction.compressor(ctx, createCompressor(ctx.models, config))
    ctx.inject(['commands'], (inner) => {
      inner.commands.register(inner, compactCommand(ctx.compaction, ctx.models))
    })
  },
})

export default plugin
