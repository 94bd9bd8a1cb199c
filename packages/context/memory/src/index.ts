import { definePlugin, own, type Plugin } from '@cordage/core/kernel'
import { memoryOf } from './episodes.ts'
import { retrieveMemory } from './retrieve.ts'

const plugin: Plugin = definePlugin({
  name: 'context-memory',
  provides: ['memory'],
  inject: ['sessions', 'tools'],
  apply(ctx) {
    const memory = { of: memoryOf }
    own(ctx, 'memory', memory)
    const sessionOf = (id: string) => ctx.sessions.list().find((session) => session.id === id)
    ctx.tools.register(ctx, retrieveMemory(memory, sessionOf))
  },
})

export default plugin
