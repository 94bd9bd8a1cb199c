import type { Memories, MemoryItem } from '@cordage/core/store'
import { defineTool } from '@cordage/core/tool'
import { z } from 'zod'
import { framed, itemText } from './item-text.ts'

const parameters = z.strictObject({
  query: z.string(),
  scope: z.enum(['user', 'project']).optional(),
  limit: z.number().int().min(1).max(50).default(10),
  include_superseded: z.boolean().default(false),
})

/** Recalls what was remembered of the person or of this very project. */
export function searchTool(memories: Memories) {
  return defineTool<z.output<typeof parameters>, { readonly items: readonly MemoryItem[] }>({
    name: 'memory_search',
    description: 'Recalls what earlier sessions remembered, by words. Check that it still holds.',
    parameters,
    effects: () => [],
    execute: async (
      { query: text, scope, limit, include_superseded: superseded },
      { project },
    ) => ({
      items: await memories.search(project, {
        text,
        superseded,
        limit,
        ...(scope === undefined ? {} : { scope }),
      }),
    }),
    render: ({ items }) => {
      const lines = items.length === 0 ? ['Nothing is remembered of that.'] : items.map(itemText)
      return framed([...(memories.notice === undefined ? [] : [memories.notice]), ...lines])
    },
    concurrent: () => true,
    idempotent: true,
    title: ({ query }) => `recall ${query}`,
  })
}
