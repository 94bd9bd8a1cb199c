import type { Command } from '@cordage/core/command'
import { definePlugin } from '@cordage/core/kernel'
import { sessionTitle } from '@cordage/core/session'

export default definePlugin({
  name: 'command-title',
  inject: ['commands'],
  apply(ctx) {
    ctx.commands.register(ctx, title)
  },
})

/** `cordage continue "/title Prices in euros"` names the session; no model is asked. */
const title: Command = {
  name: 'title',
  description: 'names this session, or says what it is called',
  async run(words, { session }) {
    if (words !== '') await session.append([sessionTitle({ title: words, by: 'user' })])
    return { text: session.state(sessionTitle) ?? 'This session has no title.' }
  },
}
