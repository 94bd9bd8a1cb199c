import {
  array,
  assert,
  constant,
  constantFrom,
  nat,
  oneof,
  property,
  stringMatching,
} from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AnswerReader, streamAnswer } from '../../src/model/answer.ts'
import type { ModelEvent } from '../../src/model/event.ts'
import { ServerEvents } from '../../src/model/server-events.ts'

function read(...chunks: (string | Uint8Array)[]) {
  const events = new ServerEvents()
  const bytes = chunks.map((chunk) => (typeof chunk === 'string' ? Buffer.from(chunk) : chunk))
  return [...bytes.flatMap((chunk) => events.push(chunk)), ...events.end()]
}

const data = (...texts: string[]) => texts.map((text) => ({ event: null, data: text }))

describe('server-sent events', () => {
  it('reads names, several lines of data, comments and members nobody knows', () => {
    const text =
      ': hello\nid: 7\nevent: a\ndata: 1\ndata:2\ndata\nretry: 5\n\n: more\n\ndata: b\n\n'
    expect(read(text)).toEqual([{ event: 'a', data: '1\n2\n' }, ...data('b')])
  })

  it('takes off one space, and the mark at the beginning', () => {
    expect(read('\uFEFFdata:  a \n\ndata:\tb\n\n')).toEqual(data(' a ', '\tb'))
  })

  it('keeps a last event without an empty line after it', () => {
    expect(read('data: a\n\ndata: b')).toEqual(data('a', 'b'))
    expect(read('data: a\r')).toEqual(data('a'))
    expect(read('', '\n', '\n\n')).toEqual([])
  })

  it('ends one line at a carriage return whose line feed comes later', () => {
    expect(read('data: a\r', '\ndata: b\r', '', '\n\r', '\ndata: c\r\r')).toEqual(data('a\nb', 'c'))
  })

  it('joins a line of megabytes that comes in small pieces', () => {
    const long = '世界'.repeat(1_000_000)
    const bytes = Buffer.from(`data: ${long}\n\n`)
    const pieces = Array.from({ length: Math.ceil(bytes.length / 1_001) }, (_, at) =>
      bytes.subarray(at * 1_001, (at + 1) * 1_001),
    )
    expect(read(...pieces)[0]?.data === long).toBe(true)
  })

  it('finds the same events however the bytes are cut', () => {
    const word = stringMatching(/^[a-z 世界👋:]{0,6}$/u)
    const lines = array(
      oneof(
        constant(''),
        word,
        word.map((one) => `data: ${one}`),
      ),
    )
    const end = constantFrom('\n', '\r\n', '\r')
    assert(
      property(lines, end, array(nat(40)), (texts, newline, cuts) => {
        const bytes = Buffer.from(texts.join(newline))
        const places = [...new Set([0, ...cuts, bytes.length])]
          .filter((place) => place <= bytes.length)
          .sort((a, b) => a - b)
        const pieces = places.map((place, at) => bytes.subarray(place, places[at + 1] ?? place))
        expect(read(...pieces)).toEqual(read(bytes))
        expect(read(bytes)).toEqual(read(texts.join('\n')))
      }),
    )
  })
})

describe('streamAnswer', () => {
  const route = { model: 'peer/m', url: 'http://peer' }
  const reader: AnswerReader<ModelEvent> = {
    *read(event) {
      yield event
    },
    end: () => [{ type: 'finish', reason: 'stop' }],
  }

  async function collect(...chunks: string[]) {
    const events: ModelEvent[] = []
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(Buffer.from(chunk))
        controller.close()
      },
    })
    const { signal } = new AbortController()
    const answer = streamAnswer(route, async () => new Response(body), reader, signal)
    try {
      for await (const event of answer) events.push(event)
    } catch (error) {
      return { events, code: (error as { code?: string }).code }
    }
    return { events }
  }

  const frame = (event: object) => `data: ${JSON.stringify(event)}\n\n`
  const text = (said: string) => ({ type: 'text', text: said }) as const
  const thought = (said: string) => ({ type: 'reasoning', text: said }) as const
  const stop = { type: 'finish', reason: 'stop' } as const

  it('passes on together what came together, in its order', async () => {
    const call = (piece: string) => ({ type: 'tool-call', index: 0, arguments: piece }) as const
    const signed = { ...thought('d'), replay: 'r' } as const
    const all = [text('a'), text('b'), thought('c'), signed, thought('e'), call('1'), call('2')]
    expect(await collect(all.map(frame).join(''), frame(text('f')))).toEqual({
      events: [
        text('ab'),
        thought('c'),
        signed,
        thought('e'),
        call('1'),
        call('2'),
        text('f'),
        stop,
      ],
    })
  })

  it('passes on what came before an event that cannot be read', async () => {
    const [a, b] = [frame(text('a')), frame(text('b'))]
    const code = 'MALFORMED_RESPONSE'
    expect(await collect(`${a}${b}data: }\n\n`)).toEqual({ events: [text('ab')], code })
    expect(await collect(`${a}data: {"a\n\n`, b)).toEqual({ events: [text('a')], code })
    expect(await collect(`${a}data: {"a`)).toEqual({ events: [text('a'), stop] })
  })

  it('reads nothing after the end marker', async () => {
    const more = frame(text('b'))
    expect(await collect(`${frame(text('a'))}data: [DONE]\n\n${more}`, more)).toEqual({
      events: [text('a'), stop],
    })
  })
})
