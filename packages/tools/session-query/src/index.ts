import { definePlugin } from '@cordage/core/kernel'
import { z } from 'zod'
import { readTool } from './event-read.ts'
import { eventSearchTool, sessionSearchTool } from './search.ts'
import { traceTool } from './trace.ts'

const config = z.strictObject({
  limit: z.number().int().min(1).max(100).default(10).describe('Hits on a page.'),
  // Stays under what the pipeline shows of a result, so that a page is never cut again.
  maxChars: z.number().int().min(1_000).default(20_000).describe('Of a fact that is read, a page.'),
})

/** What a model finds of earlier sessions; only of those of exactly its own project directory. */
export default definePlugin({
  name: '@cordage/tool-session-query',
  inject: ['tools', 'sessionQuery'],
  config,
  apply: (ctx, { limit, maxChars }) => {
    const { tools, sessionQuery } = ctx
    tools.register(ctx, sessionSearchTool(sessionQuery, limit))
    tools.register(ctx, eventSearchTool(sessionQuery, limit))
    tools.register(ctx, traceTool(sessionQuery))
    tools.register(ctx, readTool(sessionQuery, maxChars))
  },
})
