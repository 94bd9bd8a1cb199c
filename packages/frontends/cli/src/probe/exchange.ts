import { NO_USAGE, addUsage, newId, type Message, type Usage } from '@cordage/core/message'
import {
  createAssembler,
  estimateTokens,
  modelError,
  type Assembled,
  type ModelProvider,
  type ModelRequest,
} from '@cordage/core/model'
import type { RequestParams, ToolSpec } from '@cordage/core/session'

/** What one probe may do, and what it has used so far, whether it succeeds or not. */
export interface Probing {
  readonly route: ModelProvider
  readonly model: string
  readonly signal: AbortSignal
  usage: Usage
  /** Something of an answer has come. */
  heard: boolean
}

export interface Asked {
  readonly messages: readonly Message[]
  readonly tools?: readonly ToolSpec[]
  readonly params?: RequestParams
  readonly image?: Uint8Array
}

export interface Exchange {
  readonly answer: Assembled
  readonly message: Message
  /** In how many events the text came. */
  readonly pieces: number
}

export function startProbing(route: ModelProvider, model: string, signal: AbortSignal): Probing {
  return { route, model, signal, usage: NO_USAGE, heard: false }
}

/** Sends one request and reads the answer to its end; throws the route's own error. */
export async function exchange(probing: Probing, asked: Asked): Promise<Exchange> {
  const { route, model, signal } = probing
  const name = `${route.id}/${model}`
  const request = makeRequest(probing, asked)
  const assembler = createAssembler({ model: name })
  let pieces = 0
  const body = await route.body(request)
  try {
    for await (const event of route.stream(request, body, { signal })) {
      probing.heard = true
      if (event.type === 'text' && event.text !== '') pieces += 1
      assembler.push(event)
    }
  } finally {
    count(probing, assembler.finish(), body)
  }
  const answer = assembler.finish()
  if (answer.finish === undefined) throw modelError('STREAM_CLOSED', { model: name })
  const source = { kind: 'model', provider: route.id, model } as const
  const message = { id: newId(), role: 'assistant', content: answer.content, source } as const
  return { answer, message, pieces }
}

function makeRequest({ route, model }: Probing, asked: Asked): ModelRequest {
  const { messages, tools = [], params = {}, image = new Uint8Array() } = asked
  const getBlob = () => Promise.resolve(image)
  const sent = messages.map((message) => ({ message }))
  return { provider: route.id, model, messages: sent, tools, params, getBlob }
}

/** A refused request was not charged for; one whose answer began was, told or not. */
function count(probing: Probing, { usage, content }: Assembled, body: unknown): void {
  if (usage === undefined && content.length === 0) return
  const estimated = {
    inputTokens: estimateTokens(JSON.stringify(body)),
    outputTokens: estimateTokens(JSON.stringify(content)),
    estimated: true,
  }
  probing.usage = addUsage(probing.usage, usage ?? estimated)
}
