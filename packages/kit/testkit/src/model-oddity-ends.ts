import { frame, framesOf, wordOf } from './model-frames.ts'
import type { Oddity } from './model-oddity.ts'
import { streamReply } from './model-peer.ts'
import type { WireApi } from './model-wire.ts'

type Words = Readonly<Partial<Record<WireApi, unknown>>>

const chatOnly = (word: unknown): Words => ({ 'openai-completions': word })

/** An answer of `Hi` that ends with the word of each protocol; those without one are left out. */
function ended(words: Words): Oddity['reply'] {
  return (api) => {
    if (!(api in words)) return undefined
    const frames = framesOf(api)
    return streamReply([...frames.begin, ...frames.text('Hi'), ...frames.end(words[api])])
  }
}

function called(ending: 'stop' | 'tool-calls', count: number): Oddity['reply'] {
  return (api) => {
    const frames = framesOf(api)
    const call = { place: 1, id: 'call_a', name: 'weather' }
    const calls = [
      ...frames.openCall(call),
      ...frames.callPiece({ place: 1, arguments: '{}' }),
      ...frames.closeCall({ ...call, arguments: '{}' }),
    ]
    const said = count > 0 ? calls : frames.text('Hi')
    return streamReply([...frames.begin, ...said, ...frames.end(wordOf(api, ending))])
  }
}

/** The words with which answers end. */
export const ends: readonly Oddity[] = [
  {
    name: 'the end of an answer',
    reply: (api) => ended({ [api]: wordOf(api, 'stop') })(api),
    result: '"Hi", stop',
  },
  {
    name: '`stop_sequence`',
    reply: ended({ 'anthropic-messages': 'stop_sequence' }),
    result: '"Hi", stop',
  },
  {
    name: 'calls, but the end says `stop`',
    reply: called('stop', 1),
    result: {
      'openai-completions': 'weather({}), stop',
      'openai-responses': 'weather({}), tool-calls',
      'anthropic-messages': 'weather({}), stop',
    },
  },
  {
    name: 'no calls, but the end says so',
    reply: called('tool-calls', 0),
    result: {
      'openai-completions': '"Hi", tool-calls',
      'openai-responses': '"Hi", stop',
      'anthropic-messages': '"Hi", tool-calls',
    },
  },
  {
    name: '`function_call`',
    reply: ended(chatOnly('function_call')),
    result: '"Hi", tool-calls',
  },
  {
    name: 'the output limit',
    reply: ended({
      'openai-completions': 'length',
      'openai-responses': 'max_output_tokens',
      'anthropic-messages': 'max_tokens',
    }),
    result: '"Hi", max-tokens',
  },
  {
    name: 'the end of the context window',
    reply: ended({ 'anthropic-messages': 'model_context_window_exceeded' }),
    result: '"Hi", max-tokens',
  },
  {
    name: 'a filter',
    reply: ended({
      'openai-completions': 'content_filter',
      'openai-responses': 'content_filter',
      'anthropic-messages': 'refusal',
    }),
    result: '"Hi", content-filter',
  },
  {
    name: 'a pause of the server',
    reply: ended({ 'anthropic-messages': 'pause_turn' }),
    result: '"Hi", pause_turn',
  },
  {
    name: 'capitals (`STOP`)',
    reply: ended({ 'openai-completions': 'STOP', 'anthropic-messages': 'END_TURN' }),
    result: '"Hi", stop',
  },
  {
    name: '`error`',
    reply: ended({ 'openai-completions': 'error', 'anthropic-messages': 'error' }),
    result: 'SERVER',
  },
  {
    name: '`insufficient_system_resource`',
    reply: ended(chatOnly('insufficient_system_resource')),
    result: 'SERVER',
  },
  {
    name: 'an unknown word',
    reply: ended({
      'openai-completions': 'tired',
      'openai-responses': 'tired',
      'anthropic-messages': 'tired',
    }),
    result: '"Hi", tired',
  },
  {
    name: 'no word (null)',
    reply: ended({ 'openai-completions': null, 'anthropic-messages': null }),
    result: '"Hi", STREAM_CLOSED',
  },
  {
    name: 'a sentence in place of a word',
    reply: ended({
      'openai-completions': 'the key sk-1 is over',
      'openai-responses': 'the key sk-1 is over',
      'anthropic-messages': 'the key sk-1 is over',
    }),
    result: '"Hi", other',
  },
]

/** Parts of answers that not every server sends alike. */
export const contents: readonly Oddity[] = [
  {
    name: 'reasoning only',
    reply: (api) => {
      const { begin, thought, end } = framesOf(api)
      return streamReply([...begin, ...thought('Hm'), ...end(wordOf(api, 'stop'))])
    },
    result: 'thought "Hm", stop',
  },
  {
    name: 'reasoning as `reasoning`',
    reply: chat([{ reasoning: 'Hm' }, { content: 'Hi' }]),
    result: 'thought "Hm", "Hi", stop',
  },
  {
    name: 'reasoning twice, as `reasoning` and `reasoning_content`',
    reply: chat([{ reasoning: 'Hm', reasoning_content: 'Hm' }, { content: 'Hi' }]),
    result: 'thought "Hm", "Hi", stop',
  },
  {
    name: 'text as a list of parts',
    reply: chat([
      { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] }] },
      { content: [{ type: 'text', text: 'Hi' }] },
    ]),
    result: 'thought "Hm", "Hi", stop',
  },
  {
    name: 'a second choice',
    reply: (api) =>
      api === 'openai-completions'
        ? streamReply([
            frame({ choices: [{ index: 0, delta: { content: 'Hi' } }] }),
            frame({
              choices: [{ index: 1, delta: { content: 'Other' }, finish_reason: 'length' }],
            }),
            ...framesOf(api).end('stop'),
          ])
        : undefined,
    result: '"Hi", stop',
  },
  {
    name: 'a call in the old form, `function_call`',
    reply: chat([
      { function_call: { name: 'weather', arguments: '{"a"' } },
      { function_call: { arguments: ':1}' } },
    ]),
    result: 'weather({"a":1}), stop',
  },
  {
    name: 'a refusal',
    reply: chat([{ refusal: 'No.' }]),
    result: '"No.", stop',
  },
]

function chat(deltas: readonly object[]): Oddity['reply'] {
  return (api) => {
    if (api !== 'openai-completions') return undefined
    const chunks = deltas.map((delta) => frame({ choices: [{ index: 0, delta }] }))
    return streamReply([...chunks, ...framesOf(api).end('stop')])
  }
}
