import type { CompactionTrigger, Pressure } from '@cordage/core/compaction'
import type { Message } from '@cordage/core/message'
import { handleIn, handleOfText, note } from '@cordage/core/tool'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cutResult } from '../src/cut-result.ts'
import { createPruner } from '../src/pruner.ts'

const config = {
  thresholdChars: 8_192,
  headChars: 4_096,
  tailChars: 1_024,
  minWindowShare: 0.4,
  targetShare: 0.3,
  keepRecentMessages: 2,
}
const source = { kind: 'tool', callId: 'c' } as const

function result(id: string, text: string): Message {
  const content = [{ type: 'text', text }] as const
  const part = { type: 'tool-result', callId: 'c', name: 't', content, isError: false } as const
  return { id, role: 'tool', content: [part], source }
}

const pressureOf = (projectedTokens: number): Pressure => {
  return { projectedTokens, anchoredTokens: 0, contextWindow: 101_000, outputTokens: 1_000 }
}

function prune(
  messages: readonly Message[],
  trigger: CompactionTrigger = 'manual',
  pressure?: Pressure,
  options = config,
) {
  const context = { trigger, pressure, pending: [], signal: new AbortController().signal }
  // It looks at nothing else of what it is given.
  return createPruner(options).prune({ messages }, context as never)
}

/** The history after what was cut, as the surface has it. */
function apply(messages: readonly Message[], cuts: ReturnType<typeof prune>): Message[] {
  const texts = new Map(cuts.map(({ messageId, text }) => [messageId, text]))
  return messages.map((message) => {
    const text = texts.get(message.id)
    return text === undefined ? message : result(message.id, text)
  })
}

const LONG = 'Ein alter Befund, lang und breit. '.repeat(400)

describe('an old result', () => {
  it('keeps its two ends, and between them a handle for all of it', () => {
    const [{ text = '' } = {}] = prune([result('a', LONG), result('b', ''), result('c', '')])
    const [head, tail] = text.split(/\n<harness-note [^]*<\/harness-note>\n/)
    expect(head).toBe(LONG.slice(0, 4_096))
    expect(tail).toBe(LONG.slice(-1_024))
    expect(handleIn(text)).toBe(handleOfText(LONG))
    expect(text).toContain(`leftOut="${LONG.length - 5_120}" of="${LONG.length}"`)
  })

  it('is cut by code points, none of which is halved', () => {
    const text = cutResult(result('a', '😀'.repeat(8_193)), config) ?? ''
    expect(text.isWellFormed()).toBe(true)
    expect(text.startsWith('😀'.repeat(4_096))).toBe(true)
    expect(text.endsWith('😀'.repeat(1_024))).toBe(true)
    expect(cutResult(result('a', '😀'.repeat(8_192)), config)).toBeUndefined()
    const odd = `${'😀'.repeat(4_095)}a${'b'.repeat(9_000)}c${'😀'.repeat(1_023)}`
    const cut = cutResult(result('a', odd), config) ?? ''
    expect(cut.startsWith(`${'😀'.repeat(4_095)}a\n`)).toBe(true)
    expect(cut.endsWith(`\nc${'😀'.repeat(1_023)}`)).toBe(true)
    const long = { ...config, headChars: 100, tailChars: 7_000 }
    expect(cutResult(result('a', `${'x'.repeat(8_000)}${'y'.repeat(700)}`), long)).toMatch(
      /\nx{6300}y{700}$/,
    )
  })

  it('that was spilled keeps the handle of the whole', () => {
    const handle = '0123456789ab'
    const spilled = `${LONG}\n${note({ leftOut: 1, of: 2, handle }, 'Read it.')}\n${LONG}`
    expect(handleIn(cutResult(result('a', spilled), config) ?? '')).toBe(handle)
  })

  it('stays where it shows an image, is short, or is among the last', () => {
    const blob = { hash: 'h', bytes: 1, mediaType: 'image/png' }
    const text = { type: 'text', text: LONG } as const
    const part = { type: 'tool-result', callId: 'c', name: 't', isError: false } as const
    const content = [{ ...part, content: [text, { type: 'image', blob }] }] as const
    const shown: Message = { id: 'p', role: 'tool', content, source }
    const said: Message = { id: 'u', role: 'user', content: [text], source: { kind: 'user' } }
    const last = [result('y', LONG), result('z', LONG)]
    expect(prune([shown, said, result('s', 'short'), ...last])).toEqual([])
    expect(prune(last, 'overflow').map(({ messageId }) => messageId)).toEqual(['y', 'z'])
  })
})

describe('pruning', () => {
  const many = Array.from({ length: 40 }, (_, at) => result(`m${at}`, `${at} ${LONG}`))

  it('begins under pressure, and cuts the oldest until there is less of it', () => {
    expect(prune(many, 'pressure', pressureOf(39_999))).toEqual([])
    const cut = prune(many, 'pressure', pressureOf(40_000)).map(({ messageId }) => messageId)
    expect(cut).toEqual(many.slice(0, cut.length).map(({ id }) => id))
    expect(cut.length).toBeGreaterThan(3)
    expect(cut.length).toBeLessThan(20)
    const more = prune(many, 'model-switch', pressureOf(45_000))
    expect(more.length).toBeGreaterThan(cut.length)
  })

  it('does nothing by itself where nothing measures', () => {
    expect(prune(many, 'pressure')).toEqual([])
    expect(prune(many, 'manual')).toHaveLength(38)
  })

  const texts = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 60 }),
    fc
      .tuple(
        fc.string({ unit: 'binary', minLength: 1, maxLength: 8 }),
        fc.integer({ min: 20, max: 90 }),
      )
      .map(([text, times]) => text.toWellFormed().repeat(times)),
  )
  const histories = fc
    .array(fc.record({ text: texts, isResult: fc.boolean() }), { maxLength: 12 })
    .map((list) =>
      list.map(({ text, isResult }, at): Message => {
        if (isResult) return result(`m${at}`, text)
        const content = [{ type: 'text', text }] as const
        return { id: `m${at}`, role: 'user', content, source: { kind: 'user' } }
      }),
    )
  const small = { ...config, thresholdChars: 400, headChars: 90, tailChars: 30 }

  it('is the same each time, cuts nothing twice, makes nothing longer and moves nothing', () => {
    fc.assert(
      fc.property(histories, fc.nat({ max: 100_000 }), (messages, tokens) => {
        for (const trigger of ['manual', 'pressure', 'overflow', 'model-switch'] as const) {
          const cuts = prune(messages, trigger, pressureOf(tokens), small)
          expect(prune(structuredClone(messages), trigger, pressureOf(tokens), small)).toEqual(cuts)
          const after = apply(messages, cuts)
          const again = prune(after, trigger, pressureOf(tokens), small)
          expect(
            again.filter(({ messageId }) => cuts.some((cut) => cut.messageId === messageId)),
          ).toEqual([])
          for (const { messageId, text } of cuts) {
            const before = messages.find(({ id }) => id === messageId)
            expect(before?.role).toBe('tool')
            expect(JSON.stringify(before).length).toBeGreaterThan(JSON.stringify(text).length)
            expect(text.isWellFormed()).toBe(true)
          }
        }
      }),
    )
  })
})
