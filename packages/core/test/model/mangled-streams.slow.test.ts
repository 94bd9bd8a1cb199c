import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { isHarnessError } from '@cordage/core/error'
import { modelErrors, type Assembled, type ModelProvider } from '@cordage/core/model'
import { config as anthropic } from '../../../models/anthropic/src/config.ts'
import { createProvider as createAnthropic } from '../../../models/anthropic/src/provider.ts'
import { config as openai } from '../../../models/openai/src/config.ts'
import { createProvider as createOpenAI } from '../../../models/openai/src/provider.ts'
import { ask, makeRequest, say } from '../../../kit/testkit/src/model-conversation.ts'
import { rawReply, startModelPeer, type ModelPeer } from '../../../kit/testkit/src/model-peer.ts'
import { encodeAnswer, type WireApi } from '../../../kit/testkit/src/model-wire.ts'

const SECRET = 'SECRET-OF-BODY'
const world = { credentials: { has: () => true, reveal: () => 'key' }, variable: () => undefined }

let peer: ModelPeer
beforeAll(async () => void (peer = await startModelPeer()))
afterAll(() => peer.close())

function providerOf(api: WireApi): ModelProvider {
  const route = { displayName: 'Peer', baseURL: peer.url, models: [{ id: 'm' }] }
  if (api === 'anthropic-messages') {
    return createAnthropic(
      'peer',
      anthropic.parse({ providers: { peer: route } }).providers.peer!,
      world,
    )
  }
  const { peer: parsed } = openai.parse({ providers: { peer: { ...route, api } } }).providers
  return createOpenAI('peer', parsed!, world)
}

const whole = (api: WireApi) =>
  encodeAnswer(api, {
    reasoning: ['Let me ', 'see.'],
    replay: 'opaque',
    text: ['Né', ' 世界'],
    calls: [
      { id: 'call_a', name: 'weather', arguments: ['{"city":', '"Rome"}'] },
      { id: 'call_b', name: 'weather', arguments: ['{}'] },
    ],
  })

/** One thing that is wrong with a stream; numbers pick an event, a member, a place. */
type Fault =
  | { readonly kind: 'drop' | 'repeat' | 'swap'; readonly event: number }
  | { readonly kind: 'replace'; readonly event: number; readonly at: number; readonly by: unknown }
  | { readonly kind: 'insert'; readonly event: number; readonly text: string }
  | { readonly kind: 'cut'; readonly event: number }

const event = fc.nat({ max: 40 })
const odd = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 1e300, '', 'x', SECRET, [], {}, [null], [[]], {
    type: 'text',
  }),
  fc.jsonValue({ maxDepth: 2 }),
)
const fault: fc.Arbitrary<Fault> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('drop', 'repeat', 'swap'), event }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('replace'), event, at: fc.nat(), by: odd }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('insert'),
      event,
      text: fc.oneof(
        fc.constantFrom(
          'data',
          'data:',
          'data: [DONE]',
          'event: error',
          `data: ${SECRET}`,
          '\uFEFF',
        ),
        odd.map((value) => `data: ${JSON.stringify(value)}`),
        fc.string({ unit: 'binary' }),
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cut'), event }) },
)

function spoil(events: readonly string[], one: Fault): string[] {
  const at = one.event % Math.max(1, events.length)
  const now = events[at] ?? ''
  if (one.kind === 'insert') return events.toSpliced(at, 0, one.text)
  if (one.kind === 'cut') return [...events.slice(0, at), now.slice(0, now.length / 2)]
  if (one.kind === 'replace') return events.with(at, replaceIn(now, one.at, one.by))
  if (one.kind === 'drop') return events.toSpliced(at, 1)
  if (one.kind === 'repeat') return events.toSpliced(at, 0, now)
  return [...events.slice(at), ...events.slice(0, at)]
}

function replaceIn(event: string, at: number, by: unknown): string {
  return event.replace(/^data: (\{.*\})$/m, (_, json: string) => {
    return `data: ${JSON.stringify(replaceMember(JSON.parse(json), at, by))}`
  })
}

/** The value with one of its members, however deep, in another form. */
function replaceMember(value: unknown, at: number, by: unknown): unknown {
  let left = at % Math.max(1, countMembers(value))
  const walk = (inner: unknown): unknown => {
    if (typeof inner !== 'object' || inner === null) return inner
    const entries = Object.entries(inner).map(([key, member]) => {
      left -= 1
      return [key, left === -1 ? by : walk(member)] as const
    })
    return Array.isArray(inner) ? entries.map(([, member]) => member) : Object.fromEntries(entries)
  }
  return walk(value)
}

function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce<number>((sum, member) => sum + 1 + countMembers(member), 0)
}

/** What is wrong with an answer as core would log it, in words. */
function wrongIn({ content, finish, usage }: Assembled): string[] {
  const wrong: string[] = []
  const ids = content.flatMap((part) => (part.type === 'tool-call' ? [part.id] : []))
  if (new Set(ids).size < ids.length || ids.includes('')) wrong.push(`ids ${ids.join()}`)
  for (const part of content) {
    const texts =
      part.type === 'tool-call'
        ? [part.id, part.name, part.arguments]
        : 'text' in part
          ? [part.text]
          : []
    if (!texts.every((text) => typeof text === 'string'))
      wrong.push(`a ${part.type} that is no text`)
  }
  if (finish !== undefined && !/^[a-z_-]{1,40}$/.test(finish)) wrong.push(`the end ${finish}`)
  for (const [name, count] of Object.entries(usage ?? {})) {
    if (typeof count === 'number' && !(Number.isFinite(count) && count >= 0)) wrong.push(name)
  }
  return wrong
}

it.each<WireApi>(['openai-completions', 'openai-responses', 'anthropic-messages'])(
  'whatever a server of %s sends is an answer that can be logged or a failure with its code',
  async (api) => {
    const provider = providerOf(api)
    await fc.assert(
      fc.asyncProperty(fc.array(fault, { minLength: 1, maxLength: 4 }), async (faults) => {
        const events = faults.reduce<string[]>(spoil, whole(api))
        peer.reset()
        peer.reply(rawReply([events.map((text) => `${text}\n\n`).join('')]))
        const told = await ask(provider, makeRequest('peer', 'm', [say.user('hi')])).then(
          wrongIn,
          (error: unknown) => {
            if (!isHarnessError(error) || !(error.code in modelErrors)) return [String(error)]
            const text = JSON.stringify([error.message, error.details])
            return text.includes(SECRET) ? [`a word of the body: ${text}`] : []
          },
        )
        expect(told).toEqual([])
      }),
    )
  },
)
