import type { ContentPart, Message, ToolResultPart } from '@cordage/core/message'
import {
  type Assembled,
  createAssembler,
  type ModelProvider,
  type ModelRequest,
} from '@cordage/core/model'

/** A request for tests: the given messages and a `weather` tool. */
export function makeRequest(
  provider: string,
  model: string,
  messages: readonly Message[],
  more: Partial<ModelRequest> = {},
): ModelRequest {
  return {
    provider,
    model,
    messages: messages.map((message) => ({ message })),
    tools: [weather],
    params: { maxTokens: 512 },
    getBlob: async () => new Uint8Array([1, 2, 3]),
    ...more,
  }
}

const weather = {
  name: 'weather',
  description: 'Tells the weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}

let count = 0

function message(
  role: Message['role'],
  content: readonly ContentPart[],
  source: Message['source'],
) {
  return { id: `m${(count += 1)}`, role, content, source }
}

export const say = {
  system: (text: string): Message =>
    message('system', [{ type: 'text', text }], { kind: 'plugin', row: 'test', form: 'system' }),
  user: (...parts: (string | ContentPart)[]): Message =>
    message(
      'user',
      parts.map((part) => (typeof part === 'string' ? { type: 'text', text: part } : part)),
      { kind: 'user' },
    ),
  assistant: (provider: string, model: string, content: readonly ContentPart[]): Message =>
    message('assistant', content, { kind: 'model', provider, model }),
  tool: (
    callId: string,
    name: string,
    content: ToolResultPart['content'],
    isError = false,
  ): Message =>
    message('tool', [{ type: 'tool-result', callId, name, content, isError }], {
      kind: 'tool',
      callId,
    }),
}

/** Sends a request and puts the whole answer together. */
export async function ask(
  provider: ModelProvider,
  request: ModelRequest,
  signal: AbortSignal = new AbortController().signal,
): Promise<Assembled> {
  const { provider: id, model, tools } = request
  const assembler = createAssembler({ model: `${id}/${model}`, tools })
  const body = await provider.body(request)
  for await (const event of provider.stream(request, body, { signal })) assembler.push(event)
  return assembler.finish()
}
