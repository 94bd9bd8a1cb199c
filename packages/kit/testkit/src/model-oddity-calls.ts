import { type CallFrame, type Frames, framesOf, wordOf } from './model-frames.ts'
import type { Oddity } from './model-oddity.ts'
import { streamReply } from './model-peer.ts'
import type { WireApi } from './model-wire.ts'

const rome = '{"city":"Rome"}'
const oslo = '{"city":"Oslo"}'
const one = `weather(${rome}), tool-calls`
const two = `weather(${rome}), time(${oslo}), tool-calls`

const first: CallFrame = { place: 0, id: 'call_a', name: 'weather' }
const second: CallFrame = { place: 1, id: 'call_b', name: 'time' }

type Make = (frames: Frames) => readonly (readonly string[])[]

/** An answer of calls that `make` puts together; only of `apis` where it is given. */
function calls(make: Make, ...apis: WireApi[]): Oddity['reply'] {
  return (api) => {
    if (apis.length > 0 && !apis.includes(api)) return undefined
    const frames = framesOf(api)
    const events = [frames.begin, ...make(frames), frames.end(wordOf(api, 'tool-calls'))]
    return streamReply(events.flat())
  }
}

/** One call after the other, each opened, sent in two pieces and closed. */
function inTurn(frames: Frames, opened: readonly CallFrame[], texts: readonly string[]) {
  return opened.flatMap((call, at) => {
    const { place } = call
    const text = texts[at] ?? ''
    return [
      frames.openCall(call),
      frames.callPiece({ place, arguments: text.slice(0, 6) }),
      frames.callPiece({ place, arguments: text.slice(6) }),
      frames.closeCall({ ...call, arguments: text }),
    ]
  })
}

const whole = (frames: Frames, text: unknown) => [
  frames.openCall({ ...first, arguments: text }),
  frames.closeCall({ ...first, arguments: text }),
]

/** Ids, names and places of calls. */
export const identities: readonly Oddity[] = [
  {
    name: 'the id in the first piece only',
    reply: calls((frames) => inTurn(frames, [first, second], [rome, oslo])),
    result: two,
  },
  {
    name: 'id and name in every piece',
    reply: calls(
      (frames) =>
        ['{"city":', '"Rome"}'].map((text) => frames.callPiece({ ...first, arguments: text })),
      'openai-completions',
    ),
    result: one,
  },
  {
    name: 'a name in two pieces',
    reply: calls(
      (frames) => [
        frames.callPiece({ ...first, name: 'wea' }),
        frames.callPiece({ place: 0, name: 'ther', arguments: rome }),
      ],
      'openai-completions',
    ),
    result: one,
  },
  {
    name: 'a name in two equal pieces',
    reply: calls(
      (frames) => [
        frames.callPiece({ ...first, name: 'tom' }),
        frames.callPiece({ place: 0, name: 'tom', arguments: rome }),
      ],
      'openai-completions',
    ),
    result: `tom(${rome}), tool-calls`,
  },
  {
    name: 'no index',
    reply: calls((frames) => {
      const unplaced = [first, second].map((call) => ({ ...call, place: undefined }))
      return inTurn(frames, unplaced, [rome, oslo])
    }),
    result: two,
  },
  {
    name: 'no index and interleaved, by id',
    reply: calls(
      (frames) => [
        frames.callPiece({ id: 'call_a', name: 'weather', arguments: '{"city":' }),
        frames.callPiece({ id: 'call_b', name: 'time', arguments: '{"city":' }),
        frames.callPiece({ id: 'call_a', arguments: '"Rome"}' }),
        frames.callPiece({ id: 'call_b', arguments: '"Oslo"}' }),
      ],
      'openai-completions',
    ),
    result: two,
  },
  {
    name: 'indices out of order',
    reply: calls((frames) =>
      inTurn(
        frames,
        [
          { ...first, place: 3 },
          { ...second, place: 1 },
        ],
        [rome, oslo],
      ),
    ),
    result: two,
  },
  {
    name: 'the index 0 for every call',
    reply: calls((frames) => inTurn(frames, [first, { ...second, place: 0 }], [rome, oslo])),
    result: two,
  },
  {
    name: 'interleaved calls',
    reply: calls((frames) => [
      frames.openCall(first),
      frames.openCall(second),
      frames.callPiece({ place: 1, arguments: oslo.slice(0, 6) }),
      frames.callPiece({ place: 0, arguments: rome.slice(0, 6) }),
      frames.callPiece({ place: 1, arguments: oslo.slice(6) }),
      frames.callPiece({ place: 0, arguments: rome.slice(6) }),
      frames.closeCall({ ...first, arguments: rome }),
      frames.closeCall({ ...second, arguments: oslo }),
    ]),
    result: two,
  },
  {
    name: 'empty ids',
    reply: calls((frames) =>
      inTurn(
        frames,
        [
          { ...first, id: '' },
          { ...second, id: '' },
        ],
        [rome, oslo],
      ),
    ),
    result: two,
  },
  {
    name: 'the same id twice',
    reply: calls((frames) => inTurn(frames, [first, { ...second, id: 'call_a' }], [rome, oslo])),
    result: two,
  },
  {
    name: 'an id that is null or a number',
    reply: calls((frames) =>
      inTurn(
        frames,
        [
          { ...first, id: null },
          { ...second, id: 7 },
        ],
        [rome, oslo],
      ),
    ),
    result: two,
  },
  {
    name: 'an id that comes late',
    reply: calls(
      (frames) => [
        frames.callPiece({ place: 0, name: 'weather', arguments: '{"city":' }),
        frames.callPiece({ place: 0, id: 'call_a', arguments: '"Rome"}' }),
      ],
      'openai-completions',
    ),
    result: one,
  },
  {
    name: 'a call that was never opened',
    reply: calls(
      (frames) => [
        frames.callPiece({ ...first, arguments: rome }),
        frames.closeCall({ ...first, arguments: rome }),
      ],
      'openai-responses',
    ),
    result: one,
  },
  {
    name: 'a name that is an object',
    reply: calls((frames) => inTurn(frames, [{ ...first, name: {} }], [rome])),
    result: 'MALFORMED_RESPONSE',
  },
]

/** What calls have for arguments. */
export const argumentShapes: readonly Oddity[] = [
  {
    name: 'arguments as an object',
    reply: calls((frames) => whole(frames, { city: 'Rome' })),
    result: one,
  },
  {
    name: 'arguments that are null',
    reply: calls((frames) => whole(frames, null)),
    result: 'weather(), tool-calls',
  },
  {
    name: 'no arguments at all',
    reply: calls((frames) => whole(frames, undefined)),
    result: 'weather(), tool-calls',
  },
  {
    name: 'arguments with something behind them',
    reply: calls((frames) => inTurn(frames, [first], [`${rome}</tool_call>`])),
    result: `weather(${rome}</tool_call>), tool-calls`,
  },
  {
    name: 'arguments that break off',
    reply: calls((frames) => inTurn(frames, [first], ['{"city":"Ro'])),
    result: 'weather({"city":"Ro), tool-calls',
  },
  {
    name: 'arguments repeated whole at the end',
    reply: calls(
      (frames) => [
        ...inTurn(frames, [first], [rome]),
        frames.callPiece({ place: 0, arguments: rome }),
        frames.closeCall({ ...first, arguments: rome }),
      ],
      'openai-completions',
      'openai-responses',
    ),
    result: one,
  },
  {
    name: 'arguments that come whole at the end only',
    reply: calls(
      (frames) => [frames.openCall(first), frames.closeCall({ ...first, arguments: rome })],
      'openai-responses',
    ),
    result: one,
  },
  {
    name: 'two equal pieces of arguments',
    reply: calls((frames) => [
      frames.openCall(first),
      ...['{"n":', '11', '11', '}'].map((text) => frames.callPiece({ place: 0, arguments: text })),
      frames.closeCall({ ...first, arguments: '{"n":1111}' }),
    ]),
    result: 'weather({"n":1111}), tool-calls',
  },
]
