import { definePlugin } from '@cordage/core/kernel'
import type { ModelEvent, ModelInfo, ModelProvider, ModelRequest } from '@cordage/core/model'
import { z } from 'zod'

const config = z.strictObject({
  /** What the model says before it repeats the last message. */
  prefix: z.string().default('You said: '),
})

export default definePlugin({
  name: '{{name}}',
  inject: ['models'],
  config,
  apply: (ctx, { prefix }) => {
    ctx.models.register(ctx, echo(prefix))
  },
})

/** Repeats what it is told. A real provider sends `body` to a server and yields what comes back. */
function echo(prefix: string): ModelProvider {
  return {
    id: '{{row}}',
    displayName: '{{name}}',
    api: 'echo',
    // Nobody gets it without asking for it: `--model {{row}}/echo`.
    available: () => false,
    info,
    declared: () => [info('echo')],
    list: async () => ['echo'],
    body: async (request) => ({ text: prefix + lastText(request) }),
    stream: async function* (_request, body, { signal }): AsyncIterable<ModelEvent> {
      signal.throwIfAborted()
      const { text } = body as { text: string }
      yield { type: 'text', text }
      yield { type: 'usage', usage: { inputTokens: 1, outputTokens: 1, estimated: true } }
      yield { type: 'finish', reason: 'stop' }
    },
  }
}

function info(id: string): ModelInfo {
  return { id, contextWindow: 8_192, maxTokens: 1_024, input: ['text'], declared: id === 'echo' }
}

function lastText({ messages }: ModelRequest): string {
  const parts = messages.at(-1)?.message.content ?? []
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
}
