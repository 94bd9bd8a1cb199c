import { definePlugin, own, type Plugin } from '../kernel/index.ts'
import { createApprovals } from './answerers.ts'
import { createPolicy } from './broker.ts'

const plugin: Plugin = definePlugin({
  name: 'core-policy',
  provides: ['policy', 'approvals'],
  inject: ['host'],
  apply(ctx) {
    own(ctx, 'policy', createPolicy(ctx, ctx.host.home))
    own(ctx, 'approvals', createApprovals(ctx))
  },
})

export default plugin
