import { definePlugin, type Plugin } from '@cordage/core/kernel'
import { retrieveMemory } from './retrieve.ts'

const plugin: Plugin = definePlugin({
  name: '@cordage/tool-retrieve-memory',
  inject: ['sessions', 'tools', 'memory'],
  apply(ctx) {
    const sessionOf = (id: string) => ctx.sessions.list().find((session) => session.id === id)
    const { maxInlineChars } = ctx.tools
    ctx.tools.register(ctx, retrieveMemory(ctx.memory, sessionOf, maxInlineChars))
  },
})

export default plugin
