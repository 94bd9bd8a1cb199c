import { definePlugin, own, type Plugin } from '@cordage/core/kernel'
import { memoryOf } from './episodes.ts'

const plugin: Plugin = definePlugin({
  name: 'context-memory',
  provides: ['memory'],
  apply(ctx) {
    own(ctx, 'memory', { of: memoryOf })
  },
})

export default plugin
