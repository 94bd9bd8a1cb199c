import { definePlugin, own, type Plugin } from '../kernel/index.ts'
import { createAgents } from './agents.ts'

const plugin: Plugin = definePlugin({
  name: 'core-agent',
  provides: ['agents'],
  inject: ['sessions', 'ledger'],
  apply(ctx) {
    const agents = createAgents(ctx)
    own(ctx, 'agents', agents, () => agents.close())
  },
})

export default plugin
