import type { BreakdownPart, ContextBreakdown, MeterInput } from '@cordage/core/compaction'
import { type BlobRef, type ContentPart, type Message } from '@cordage/core/message'
import { estimateMessage, imagePrice } from '@cordage/core/model'
import type { RequestHeader, SurfaceEntry } from '@cordage/core/session'

/** Whose words are those of files. */
export interface FileSources {
  readonly fileTools: readonly string[]
  readonly fileRows: readonly string[]
}

type Placed = Pick<SurfaceEntry, 'message' | 'contextId' | 'stability'>

/** Estimates of the next request by part and row, the largest of each kind first. */
export function breakDown(
  { session, target, pending = [] }: MeterInput,
  { fileTools, fileRows }: FileSources,
): ContextBreakdown {
  const price = imagePrice(target)
  const origin = session.requestHeader?.origin ?? []
  const rows = new Map(origin.map(({ part, row }) => [part, row]))
  const messages = new Parts()
  const files = new Parts()
  const entries: Placed[] = [...session.surface, ...pending.map((message) => ({ message }))]
  for (const entry of entries) {
    const { message } = entry
    // The sections of the system prompt have rows of their own.
    if (message.role === 'system') continue
    const place = placeOf(entry, rows)
    const isFile = fileRows.includes(place.row) || fileTools.includes(toolOf(message) ?? '')
    ;(isFile ? files : messages).add({ ...place, tokens: estimateMessage(message, 0) })
    const tokens = imagesIn(message.content).reduce((sum, image) => sum + price(image), 0)
    if (tokens > 0) files.add({ part: 'images', row: place.row, tokens })
  }
  return {
    system: fixed(origin, 'system: '),
    tools: fixed(origin, 'tool: '),
    messages: messages.list(),
    files: files.list(),
  }
}

function fixed(origin: RequestHeader['origin'], prefix: string): BreakdownPart[] {
  const parts = origin.filter(({ part }) => part.startsWith(prefix))
  return sorted(
    parts.map(({ part, row, tokens, stability }) => {
      return { part: part.slice(prefix.length), row, tokens, ...(stability ? { stability } : {}) }
    }),
  )
}

/** Who put a message there: what people and models wrote is of no row. */
function placeOf({ message, contextId, stability }: Placed, rows: ReadonlyMap<string, string>) {
  const { role, source } = message
  const tool = toolOf(message)
  if (tool !== undefined)
    return { part: `results of ${tool}`, row: rows.get(`tool: ${tool}`) ?? '' }
  if (source.kind !== 'plugin') return { part: role, row: '' }
  const part = contextId === undefined ? source.form : `${source.form} ${contextId}`
  return { part, row: source.row, ...(stability ? { stability } : {}) }
}

function toolOf({ content: [part] }: Message): string | undefined {
  return part?.type === 'tool-result' ? part.name : undefined
}

function imagesIn(content: readonly ContentPart[]): BlobRef[] {
  return content.flatMap((part) => {
    if (part.type === 'tool-result') return imagesIn(part.content)
    return part.type === 'image' ? [part.blob] : []
  })
}

class Parts {
  readonly #parts = new Map<string, BreakdownPart>()

  add(given: BreakdownPart): void {
    const key = `${given.part}\0${given.row}`
    const before = this.#parts.get(key)?.tokens ?? 0
    this.#parts.set(key, { ...given, tokens: before + given.tokens })
  }

  list(): BreakdownPart[] {
    return sorted([...this.#parts.values()])
  }
}

function sorted(parts: readonly BreakdownPart[]): BreakdownPart[] {
  return parts.toSorted((a, b) => b.tokens - a.tokens || (a.part < b.part ? -1 : 1))
}
