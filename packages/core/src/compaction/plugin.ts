import { definePlugin, own, type Plugin } from '../kernel/index.ts'
import { compactAutomatically } from './automatic.ts'
import { createCompaction } from './scheduler.ts'

const plugin: Plugin = definePlugin({
  name: 'core-compaction',
  provides: ['compaction'],
  apply(ctx) {
    const compaction = createCompaction(ctx)
    compactAutomatically(ctx, compaction)
    own(ctx, 'compaction', compaction)
  },
})

export default plugin
