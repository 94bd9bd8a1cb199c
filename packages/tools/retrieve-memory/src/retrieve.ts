import type { EpisodicMemory, Memory, Recalled } from '@cordage/core/compaction'
import { defineErrors } from '@cordage/core/error'
import { textOf, type ContentPart, type Message } from '@cordage/core/message'
import type { Session } from '@cordage/core/session'
import { defineTool, frame, type Tool } from '@cordage/core/tool'
import { z } from 'zod'

/** Characters of each message of a page. One that is asked for alone is given whole. */
const MAX_CHARS = 6_000
/** Of the characters that a result may have: what came after them is on the next page. */
const PAGE_SHARE = 0.8
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
  maxChars: number,
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
      return messages.length === 0
        ? 'Nothing there.'
        : pageText(id, { ...page, most: maxChars * PAGE_SHARE }, messages, next)
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
function pageText(
  id: string,
  { offset, limit, most }: Page & { readonly most: number },
  messages: readonly Recalled[],
  next: number | undefined,
): string {
  const texts: string[] = []
  let left = most
  for (const [at, { message }] of messages.entries()) {
    const text = messageText(offset + at, message, limit === 1 ? Infinity : MAX_CHARS)
    left -= text.length
    if (left < 0 && at > 0) break
    texts.push(text)
  }
  const from = texts.length < messages.length ? offset + texts.length : next
  const more = from === undefined ? 'That is all.' : `More from offset ${from} on.`
  return `${frame('earlier_messages', { snapshot: id }, texts.join('\n\n'))}\n${more}`
}

function messageText(at: number, { role, content }: Message, most: number): string {
  const parts = content.map((part) => partText(part, most)).filter((part) => part !== '')
  return `[${at}] ${role}: ${parts.join('\n')}`
}

function partText(part: ContentPart, most: number): string {
  if (part.type === 'text') return bounded(part.text, most)
  if (part.type === 'tool-call') return bounded(`calls ${part.name} ${part.arguments}`, most)
  if (part.type === 'image') return '(an image)'
  if (part.type !== 'tool-result') return ''
  return bounded(`${part.name} ${part.isError ? 'failed' : 'gave'}: ${textOf(part)}`, most)
}

function bounded(text: string, most: number): string {
  if (text.length <= most) return text
  const head = text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')
  return `${head}\n(cut: ${text.length - head.length} more characters; all with limit 1)`
}
