import type { BreakdownPart, ContextBreakdown, MeterInput } from '@cordage/core/compaction'
import type { ContentPart, Message } from '@cordage/core/message'
import { estimateMessage, IMAGE_TOKENS } from '@cordage/core/model'

/** Estimates of the next request by part and row, the largest of each kind first. */
export function breakDown({ session, target, pending = [] }: MeterInput): ContextBreakdown {
  const { imageTokens = IMAGE_TOKENS } = target.info
  const origin = session.requestHeader?.origin ?? []
  const rows = new Map(origin.map(({ part, row }) => [part, row]))
  const messages = new Parts()
  const files = new Parts()
  const conversation = session.surface.map(({ message }) => message)
  for (const message of [...conversation, ...pending]) {
    // The sections of the system prompt have rows of their own.
    if (message.role === 'system') continue
    const { part, row } = placeOf(message, rows)
    const images = countImages(message.content)
    messages.add(part, row, estimateMessage(message, 0))
    if (images > 0) files.add('images', row, images * imageTokens)
  }
  return {
    system: fixed(origin, 'system: '),
    tools: fixed(origin, 'tool: '),
    messages: messages.list(),
    files: files.list(),
  }
}

function fixed(origin: readonly BreakdownPart[], prefix: string): BreakdownPart[] {
  const parts = origin.filter(({ part }) => part.startsWith(prefix))
  return sorted(
    parts.map(({ part, row, tokens }) => ({ part: part.slice(prefix.length), row, tokens })),
  )
}

/** Who put a message there: what people and models wrote is of no row. */
function placeOf({ role, source, content }: Message, rows: ReadonlyMap<string, string>) {
  const [part] = content
  if (part?.type === 'tool-result') {
    return { part: `results of ${part.name}`, row: rows.get(`tool: ${part.name}`) ?? '' }
  }
  if (source.kind === 'plugin') return { part: source.form, row: source.row }
  return { part: role, row: '' }
}

function countImages(content: readonly ContentPart[]): number {
  return content.reduce((count, part) => {
    if (part.type === 'tool-result') return count + countImages(part.content)
    return part.type === 'image' ? count + 1 : count
  }, 0)
}

class Parts {
  readonly #parts = new Map<string, BreakdownPart>()

  add(part: string, row: string, tokens: number): void {
    const key = `${part}\0${row}`
    const before = this.#parts.get(key)?.tokens ?? 0
    this.#parts.set(key, { part, row, tokens: before + tokens })
  }

  list(): BreakdownPart[] {
    return sorted([...this.#parts.values()])
  }
}

function sorted(parts: readonly BreakdownPart[]): BreakdownPart[] {
  return parts.toSorted((a, b) => b.tokens - a.tokens || (a.part < b.part ? -1 : 1))
}
