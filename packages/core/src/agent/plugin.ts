import { definePlugin, own, type Plugin } from '../kernel/index.ts'
import { createAgents } from './agents.ts'
import { announceJobs } from './job-notices.ts'

const plugin: Plugin = definePlugin({
  name: 'core-agent',
  provides: ['agents'],
  inject: ['sessions', 'ledger'],
  apply(ctx) {
    const agents = createAgents(ctx)
    announceJobs(ctx, agents)
    own(ctx, 'agents', agents, () => agents.close())
  },
})

export default plugin
