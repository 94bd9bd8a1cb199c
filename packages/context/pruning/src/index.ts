import { definePlugin, type Plugin } from '@cordage/core/kernel'
import { pruningConfig, type PruningConfig } from './config.ts'
import { createPruner } from './pruner.ts'

/** Cuts old tool results under pressure, without a model: their middle stays in the log. */
const plugin: Plugin<PruningConfig> = definePlugin({
  name: 'context-pruning',
  inject: ['compaction'],
  config: pruningConfig,
  apply(ctx, options) {
    ctx.compaction.pruner(ctx, createPruner(options))
  },
})

export default plugin
