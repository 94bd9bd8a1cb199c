import { frame, framesOf, wordOf } from './model-frames.ts'
import type { Oddity } from './model-oddity.ts'
import { streamReply } from './model-peer.ts'
import type { WireApi } from './model-wire.ts'

const counts = (input: number, output: number) => (api: WireApi) =>
  api === 'openai-completions'
    ? { prompt_tokens: input, completion_tokens: output }
    : { input_tokens: input, output_tokens: output }

const said = (api: WireApi) => [...framesOf(api).begin, ...framesOf(api).text('Hi')]
const end = (api: WireApi, usage?: unknown) => framesOf(api).end(wordOf(api, 'stop'), usage)

const chunks = (list: readonly object[]) => list.map((value) => frame(value))

/** Chunks of Chat Completions around a text; other protocols have one place for usage. */
function chat(before: readonly object[], after: readonly object[] = []): Oddity['reply'] {
  return (api) => {
    if (api !== 'openai-completions') return undefined
    return streamReply([...chunks(before), ...said(api), ...chunks(after), ...end(api)])
  }
}

const usage = counts(9, 2)('openai-completions')

/** Where and how servers count tokens. */
export const usages: readonly Oddity[] = [
  {
    name: 'usage at the end',
    reply: (api) => streamReply([...said(api), ...end(api, counts(9, 2)(api))]),
    result: '9 in, 2 out',
  },
  {
    name: 'usage before the text',
    reply: chat([{ choices: [], usage }]),
    result: '9 in, 2 out',
  },
  {
    name: 'usage beside the end',
    reply: chat([], [{ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage }]),
    result: '9 in, 2 out',
  },
  {
    name: 'usage inside the choice',
    reply: chat([], [{ choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage }] }]),
    result: '9 in, 2 out',
  },
  {
    name: 'usage that grows with each chunk',
    reply: (api) => {
      const at = counts(9, 1)(api)
      if (api === 'openai-completions')
        return chat([{ choices: [], usage: at }], [{ choices: [], usage }])(api)
      if (api === 'openai-responses') return undefined
      const start = frame({ type: 'message_start', message: { usage: at } }, 'message_start')
      const delta = frame(
        { type: 'message_delta', delta: {}, usage: { output_tokens: 1 } },
        'message_delta',
      )
      return streamReply([start, ...said(api), delta, ...end(api, { output_tokens: 2 })])
    },
    result: '9 in, 2 out',
  },
  {
    name: 'usage of zero',
    reply: (api) => streamReply([...said(api), ...end(api, counts(0, 0)(api))]),
    result: 'estimated',
  },
  {
    name: 'no usage',
    reply: (api) => streamReply([...said(api), ...end(api)]),
    result: 'estimated',
  },
  {
    name: 'usage of null',
    reply: (api) => streamReply([...said(api), ...end(api, null)]),
    result: 'estimated',
  },
  {
    name: 'usage that is negative',
    reply: (api) => streamReply([...said(api), ...end(api, counts(-9, 2)(api))]),
    result: 'estimated',
  },
  {
    name: 'what a cache gave',
    reply: (api) => streamReply([...said(api), ...end(api, cached(api))]),
    result: {
      'openai-completions': '9 in, 2 out, 5 cached',
      'openai-responses': '9 in, 2 out, 5 cached',
      'anthropic-messages': '9 in, 2 out, 5 cached, 3 to the cache',
    },
  },
  {
    name: 'what a cache gave, as DeepSeek says it',
    reply: chat([], [{ choices: [], usage: { ...usage, prompt_cache_hit_tokens: 5 } }]),
    result: '9 in, 2 out, 5 cached',
  },
]

function cached(api: WireApi) {
  if (api === 'openai-completions') {
    return { ...usage, prompt_tokens_details: { cached_tokens: 5 } }
  }
  if (api === 'openai-responses') {
    return { ...counts(9, 2)(api), input_tokens_details: { cached_tokens: 5 } }
  }
  const parts = { cache_read_input_tokens: 5, cache_creation_input_tokens: 3 }
  return { input_tokens: 1, output_tokens: 2, ...parts }
}
