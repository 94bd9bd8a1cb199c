import type { EpisodicMemory, Memory, Recalled } from '@cordage/core/compaction'
import { defineErrors } from '@cordage/core/error'
import { textOf } from '@cordage/core/message'
import type { Session } from '@cordage/core/session'
import { defineTool, frame, type Tool } from '@cordage/core/tool'
import { z } from 'zod'

/** Characters of one message; the rest of a tool result is where its handle says. */
const MAX_CHARS = 6_000
const MAX_LINE = 160

const fail = defineErrors('tool-retrieve-memory', {
  SNAPSHOT_UNKNOWN: {
    message: 'There is no snapshot {snapshot}; there are: {known}.',
  },
})

const parameters = z.strictObject({
  snapshot_id: z.string().min(1).optional(),
  offset: z.number().int().min(0).default(0),
  limit: z.number().int().min(1).max(100).default(20),
})

type Arguments = z.output<typeof parameters>

/** Reads what summaries stand for, of the session that calls. */
export function retrieveMemory(
  memory: Memory,
  sessionOf: (id: string) => Session | undefined,
): Tool<Arguments, string> {
  return defineTool<Arguments, string>({
    name: 'retrieve_memory',
    description:
      'Original messages behind a summary of this conversation, word for word. Without ' +
      'snapshot_id: the list of summaries.',
    parameters,
    effects: () => [],
    concurrent: () => true,
    idempotent: true,
    async execute({ snapshot_id: id, ...page }, { sessionId }) {
      const session = sessionOf(sessionId)
      if (!session) return 'This conversation cannot be read now.'
      const service = memory.of(session)
      if (id === undefined) return listText(await service.listEpisodes(), page)
      const episode = await service.findEpisode(id)
      if (!episode) {
        const known = (await service.listEpisodes()).map((one) => one.id)
        throw fail('SNAPSHOT_UNKNOWN', { snapshot: id, known: known.join(', ') || 'none' })
      }
      const { messages, next } = await service.messagesOf(episode, page)
      const more = next === undefined ? 'That is all.' : `More from offset ${next} on.`
      return messages.length === 0 ? 'Nothing there.' : `${pageText(id, page, messages)}\n${more}`
    },
    title: ({ snapshot_id: id = 'all' }) => `recall ${id}`,
  })
}

function listText(episodes: readonly EpisodicMemory[], { offset, limit }: Page): string {
  if (episodes.length === 0) return 'Nothing was summarised in this conversation.'
  const lines = episodes.slice(offset, offset + limit).map(({ id, covers, summary }) => {
    const goal = /<overall_goal>([^]*?)<\/overall_goal>/.exec(summary)?.[1] ?? summary
    const line = goal.trim().replaceAll(/\s+/g, ' ').slice(0, MAX_LINE)
    return `${id}: facts ${covers.from} to ${covers.to}: ${line}`
  })
  const rest = episodes.length - offset - lines.length
  return [...lines, ...(rest > 0 ? [`${rest} more from offset ${offset + limit} on.`] : [])].join(
    '\n',
  )
}

type Page = Pick<Arguments, 'offset' | 'limit'>

/** Framed as what was said then, so that nothing in it is taken for something said now. */
function pageText(id: string, { offset }: Page, messages: readonly Recalled[]): string {
  const texts = messages.map(({ message }, at) => {
    const text = message.content.map(partText).filter((part) => part !== '')
    return `[${offset + at}] ${message.role}: ${text.join('\n')}`
  })
  return frame('earlier_messages', { snapshot: id }, texts.join('\n\n'))
}

function partText(part: Recalled['message']['content'][number]): string {
  if (part.type === 'text') return bounded(part.text)
  if (part.type === 'tool-call') return bounded(`calls ${part.name} ${part.arguments}`)
  if (part.type === 'image') return '(an image)'
  if (part.type !== 'tool-result') return ''
  return bounded(`${part.name} ${part.isError ? 'failed' : 'gave'}: ${textOf(part)}`)
}

function bounded(text: string): string {
  if (text.length <= MAX_CHARS) return text
  const head = text.slice(0, MAX_CHARS).replace(/[\uD800-\uDBFF]$/, '')
  return `${head}\n(cut: ${text.length - head.length} more characters)`
}
