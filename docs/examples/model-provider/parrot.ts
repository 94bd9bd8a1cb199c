import { definePlugin } from '@cordage/core/kernel'
import { textOf } from '@cordage/core/message'
import { modelError, type ModelInfo, type ModelProvider } from '@cordage/core/model'

export default definePlugin({
  name: 'model-parrot',
  inject: ['models'],
  apply(ctx) {
    ctx.models.register(ctx, parrot)
  },
})

const grey: ModelInfo = {
  id: 'grey',
  contextWindow: 8_000,
  maxTokens: 1_000,
  input: ['text'],
  declared: true,
}

/** Repeats what it was told. A route to a server differs in `body` and `stream` alone. */
const parrot: ModelProvider = {
  id: 'parrot',
  displayName: 'A parrot',
  api: 'parrot',
  // Never the default: nobody gets a parrot without asking for one.
  available: () => false,
  info: (id) => ({ ...grey, id, declared: id === grey.id }),
  declared: () => [grey],
  list: async () => [grey.id],
  body: async ({ messages }) => ({ heard: messages.map(({ message }) => textOf(message)) }),
  async *stream({ model, messages }, _body, { signal }) {
    signal.throwIfAborted()
    const last = messages.findLast(({ message }) => message.source.kind === 'user')
    if (!last) throw modelError('INVALID_REQUEST', { model, reason: 'nobody said anything' })
    for (const word of textOf(last.message).split(/(?<= )/)) yield { type: 'text', text: word }
    yield { type: 'usage', usage: { inputTokens: messages.length, outputTokens: 1 } }
    yield { type: 'finish', reason: 'stop' }
  },
}
