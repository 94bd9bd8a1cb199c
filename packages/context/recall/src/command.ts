import type { Command } from '@cordage/core/command'
import type { Memories, SessionQuery } from '@cordage/core/store'
import { recallError } from './errors.ts'
import { forget, forgottenText } from './forget-tool.ts'
import { itemText } from './item-text.ts'

/** What people see of what is remembered about them and this project, and how they forget it. */
export function memoryCommand(
  memories: Memories,
  sessionQuery: () => SessionQuery | undefined,
): Command {
  return {
    name: 'memory',
    description: 'what is remembered across sessions; `/memory forget <id>` removes it',
    async run(args, { session }, signal) {
      const { project } = session.header
      if (args !== '') {
        const [, id] = /^forget\s+(\S+)$/.exec(args) ?? []
        if (id === undefined) throw recallError('MEMORY_USAGE', { args })
        return {
          text: forgottenText(await forget(memories, sessionQuery(), { project, id, signal })),
        }
      }
      const items = await memories.list(project)
      const shown = items.length === 0 ? ['Nothing is remembered.'] : items.map(itemText)
      return {
        text: [...(memories.notice === undefined ? [] : [memories.notice]), ...shown].join('\n'),
      }
    },
  }
}
