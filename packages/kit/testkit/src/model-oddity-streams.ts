import { gzipSync } from 'node:zlib'
import { frame, framesOf } from './model-frames.ts'
import type { Oddity } from './model-oddity.ts'
import { plainReply, type PeerReply, rawReply, streamReply } from './model-peer.ts'
import { encodeAnswer, encodeBeginning, encodeError, type WireApi } from './model-wire.ts'

const hi = (api: WireApi) => encodeAnswer(api, { text: ['né', ' 世界'] })
const whole = '"né 世界", stop'

const bytes = (events: readonly string[]) => events.map((event) => `${event}\n\n`).join('')
const streamed = (events: (api: WireApi) => readonly string[]) => (api: WireApi) =>
  streamReply(events(api))
const written = (change: (text: string) => string) => (api: WireApi) =>
  rawReply([change(bytes(hi(api)))])

/** Without its last event, which says that it is over, and what the protocol adds after that. */
const unmarked = (api: WireApi) => hi(api).slice(0, -1)
const after = (api: WireApi) => [...hi(api), ...framesOf(api).text('late')]
const begun = (api: WireApi) => encodeBeginning(api, 'Hel')

const spread = (text: string) =>
  text.replaceAll(/^(data: \{)(.+)$/gm, (_, first: string, rest: string) => {
    return `${first}\ndata: ${rest}`
  })

/** How bytes are cut and framed. */
export const framing: readonly Oddity[] = [
  {
    name: 'lines that end with CRLF',
    reply: written((text) => text.replaceAll('\n', '\r\n')),
    result: whole,
  },
  {
    name: 'lines that end with CR',
    reply: written((text) => text.replaceAll('\n', '\r')),
    result: whole,
  },
  { name: 'a byte order mark', reply: written((text) => `\uFEFF${text}`), result: whole },
  { name: 'data over several lines', reply: written(spread), result: whole },
  {
    name: 'no space after a colon',
    reply: written((text) => text.replaceAll(/^(data|event): /gm, '$1:')),
    result: whole,
  },
  {
    name: 'characters split between two writes',
    reply: (api) => streamReply(hi(api), { pieceBytes: 1 }),
    result: whole,
  },
  {
    name: 'characters split between two writes, with CRLF',
    reply: (api) => streamReply(hi(api), { pieceBytes: 1, newline: '\r\n' }),
    result: whole,
  },
  {
    name: 'members `id` and `retry` of events',
    reply: written((text) => text.replaceAll(/^data:/gm, 'id: 7\nretry: 10\ndata:')),
    result: whole,
  },
  {
    name: 'events without their names',
    reply: written((text) => text.replaceAll(/^event: .*\n/gm, '')),
    result: whole,
  },
  {
    name: 'events of unknown names',
    reply: streamed((api) => [frame({ type: 'x.new', choices: [] }, 'x.new'), ...hi(api)]),
    result: whole,
  },
  {
    name: 'no empty line after the last event',
    reply: written((text) => text.trimEnd()),
    result: whole,
  },
  {
    name: 'comments between events',
    reply: written((text) => text.replaceAll('\n\n', '\n\n: ping\n\n')),
    result: whole,
  },
  {
    name: 'comments only',
    reply: () => rawReply([': ping\n\n', ': ping\n\n']),
    result: 'STREAM_CLOSED',
  },
  { name: 'gzip', reply: compressed, result: whole },
  { name: 'gzip that breaks off', reply: cutCompressed, result: 'STREAM_CLOSED' },
  {
    name: 'a piece of five megabytes',
    reply: (api) => streamReply(encodeAnswer(api, { text: ['x'.repeat(5_000_000)] })),
    result: '5000000 characters, stop',
  },
  {
    name: 'half a character (a lone surrogate), and a zero',
    reply: (api) => {
      return streamReply(encodeAnswer(api, { text: ['a\uD83D\u0000'], finish: 'stop' }))
    },
    result: '"a\\ud83d\\u0000", stop',
  },
]

/** How streams end, and what else comes in their place. */
export const endings: readonly Oddity[] = [
  {
    name: 'no end marker',
    reply: streamed(unmarked),
    result: {
      'openai-completions': whole,
      'openai-responses': '"né 世界", STREAM_CLOSED',
      'anthropic-messages': whole,
    },
  },
  { name: 'data after the end marker', reply: streamed(after), result: whole },
  {
    name: 'an end inside an event',
    reply: (api) => rawReply([bytes(begun(api)), bytes(begun(api)).slice(0, -9)]),
    result: '"Hel", STREAM_CLOSED',
  },
  { name: 'an end in the middle', reply: streamed(begun), result: '"Hel", STREAM_CLOSED' },
  { name: 'nothing at all', reply: () => rawReply([]), result: 'STREAM_CLOSED' },
  {
    name: 'an error object inside the stream',
    reply: streamed((api) => [...begun(api), ...encodeError(api, 'overloaded_error', 'busy')]),
    result: 'SERVER',
  },
  {
    name: 'an error object inside the stream, without a name',
    reply: streamed((api) => [
      ...begun(api),
      frame({ type: 'error', error: { type: 'rate_limit_error', message: 'busy' } }),
    ]),
    result: 'RATE_LIMIT',
  },
  {
    name: 'an error object inside the stream that says the context is full',
    reply: streamed((api) =>
      encodeError(api, 'invalid_request_error', 'prompt is too long: 9 tokens > 8 maximum'),
    ),
    result: 'CONTEXT_WINDOW_EXCEEDED',
  },
  {
    name: 'an error object inside the stream with a number for its code',
    reply: streamed((api) => [...begun(api), frame({ error: { code: 429, message: 'x' } })]),
    result: 'RATE_LIMIT',
  },
  {
    name: 'an error inside the stream that is a sentence',
    reply: streamed((api) => [...begun(api), 'event: error\ndata: the upstream is overloaded']),
    result: 'SERVER',
  },
  {
    name: 'a connection that stays open after the end marker',
    reply: (api) => streamReply(hi(api), { after: 'hang' }),
    result: whole,
  },
  {
    name: 'an error object with status 200',
    reply: () => plainReply(200, { error: { type: 'rate_limit_exceeded', message: 'slow' } }),
    result: 'RATE_LIMIT',
  },
  {
    name: 'a web page with status 200',
    reply: () => plainReply(200, '<html><h1>Sign in to the Wi-Fi</h1></html>'),
    result: 'MALFORMED_RESPONSE',
  },
  {
    name: 'a web page that says it is an event stream',
    reply: () => rawReply(['<html><h1>Sign in to the Wi-Fi</h1></html>']),
    result: 'STREAM_CLOSED',
  },
  {
    name: 'an answer that is not streamed',
    reply: () => plainReply(200, { id: 'x', choices: [], output: [], content: [] }),
    result: 'MALFORMED_RESPONSE',
  },
  {
    name: 'an event stream that says it is plain text',
    reply: (api) => rawReply([bytes(hi(api))], { headers: { 'content-type': 'text/plain' } }),
    result: whole,
  },
  {
    name: 'an event that is not JSON',
    reply: streamed((api) => {
      const [first = '', ...rest] = hi(api)
      return [first.replace(/data: .*/, 'data: {"a": <b>}'), ...rest]
    }),
    result: 'MALFORMED_RESPONSE',
  },
  {
    name: 'a connection reset before the headers',
    reply: () => (response) => response.destroy(),
    result: 'TRANSPORT',
  },
  {
    name: 'a connection reset after the headers',
    reply: () => rawReply([], { after: 'destroy' }),
    result: 'STREAM_CLOSED',
  },
  {
    name: 'a connection reset in the middle',
    reply: (api) => rawReply([bytes(begun(api))], { after: 'destroy' }),
    result: 'STREAM_CLOSED',
  },
  {
    name: 'a connection reset after the end of the answer',
    reply: (api) => rawReply([bytes(hi(api))], { after: 'destroy' }),
    result: whole,
  },
  {
    name: 'fewer bytes than the length that was promised',
    reply: (api) =>
      rawReply([bytes(begun(api))], { headers: { 'content-length': '99999' }, after: 'destroy' }),
    result: 'STREAM_CLOSED',
  },
]

function compressed(api: WireApi): PeerReply {
  return rawReply([gzipSync(bytes(hi(api)))], { headers: { 'content-encoding': 'gzip' } })
}

function cutCompressed(api: WireApi): PeerReply {
  const packed = gzipSync(bytes(hi(api)))
  const half = packed.subarray(0, packed.length / 2)
  return rawReply([half], { headers: { 'content-encoding': 'gzip' } })
}
