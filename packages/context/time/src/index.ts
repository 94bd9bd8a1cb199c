import { definePlugin, type Plugin } from '@cordage/core/kernel'

/** The day: what changes more often would be told anew with each step. */
const plugin: Plugin = definePlugin({
  name: 'context-time',
  inject: ['prompt'],
  apply(ctx) {
    // Between the directory and the runtime of `context-surroundings`.
    ctx.prompt.context(ctx, { id: 'date', order: 10, render: () => `Today is ${today()}.` })
  },
})

export default plugin

/** Of this place. `toLocaleDateString` would load the tables of all languages: 8 MB for a date. */
function today(): string {
  const now = new Date()
  const parts = [now.getFullYear(), now.getMonth() + 1, now.getDate()]
  return parts.map((part) => String(part).padStart(2, '0')).join('-')
}
