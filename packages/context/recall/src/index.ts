import { definePlugin, type PluginContext } from '@cordage/core/kernel'
import { sessionError, type Fact } from '@cordage/core/session'
import { z } from 'zod'
import { memoryCommand } from './command.ts'
import { digest } from './digest.ts'
import { forgetTool } from './forget-tool.ts'
import { searchTool } from './search-tool.ts'
import { decideWrite, writeTool } from './write-tool.ts'

const config = z.strictObject({
  maxChars: z.number().int().min(100).max(4_000).default(1_000).describe('Of what is remembered.'),
  digestItems: z
    .number()
    .int()
    .min(0)
    .max(50)
    .default(0)
    .describe('So many of the newest a session is told when it begins, as background.'),
})

/** What an agent remembers across sessions; `store-memories` keeps it. */
export default definePlugin({
  name: '@cordage/context-recall',
  inject: ['commands', 'credentials', 'memories', 'policy', 'prompt', 'sessions', 'tools'],
  config,
  apply(ctx, { maxChars, digestItems }) {
    const { credentials, memories, tools } = ctx
    const factsOf = (id: string) => readFacts(ctx, id)
    const sessionQuery = () => ctx.get('sessionQuery')
    ctx.policy.rule(ctx, { id: 'context-recall', decide: decideWrite })
    tools.register(ctx, writeTool({ memories, credentials, factsOf, maxChars }))
    tools.register(ctx, searchTool(memories))
    tools.register(ctx, forgetTool(memories, sessionQuery))
    ctx.commands.register(ctx, memoryCommand(memories, sessionQuery))
    if (digestItems > 0) ctx.prompt.context(ctx, digest(memories, digestItems))
  },
})

/** Tools get the facts of the calling session, and no hold on the session itself. */
function readFacts(ctx: PluginContext<'sessions'>, id: string): AsyncIterable<Fact> {
  const session = ctx.sessions.list().find((one) => one.id === id)
  if (!session) throw sessionError('SESSION_CLOSED', { id })
  return session.read(0)
}
