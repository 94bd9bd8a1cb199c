import { definePlugin, own, type Plugin } from '../kernel/index.ts'
import { loopConfig, type LoopConfig } from './config.ts'
import { createLoop } from './loop.ts'

const plugin: Plugin<LoopConfig> = definePlugin({
  name: 'core-loop',
  provides: ['loop'],
  inject: ['models', 'tools', 'prompt'],
  config: loopConfig,
  apply(ctx, config) {
    own(ctx, 'loop', createLoop(ctx, config))
  },
})

export default plugin
