import type { Memories } from '@cordage/core/store'
import type { PromptContext } from '@cordage/core/prompt'
import { framed, itemText } from './item-text.ts'

const MAX_ITEM_CHARS = 300

/** The newest items, told once when a session begins: what is remembered later changes nothing. */
export function digest(memories: Memories, count: number): PromptContext {
  const told = new Map<string, string>()
  return {
    id: 'memories',
    order: 40,
    async render({ sessionId, project }) {
      const known = told.get(sessionId)
      if (known !== undefined) return known
      const items = (await memories.list(project)).filter(({ expires }) => !isOver(expires))
      const lines = items.slice(0, count).map((item) => {
        return itemText(item).slice(0, MAX_ITEM_CHARS).toWellFormed()
      })
      const text = lines.length === 0 ? '' : framed(lines)
      told.set(sessionId, text)
      return text
    },
  }
}

function isOver(expires: number | undefined): boolean {
  return expires !== undefined && expires <= Date.now()
}
