import { normaliseHttp } from '@cordage/core/model'
import { attemptStart, reasoningDropped, requestAt } from '@cordage/core/session'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import rebuild from '../../rebuild/src/index.ts'
import retry from '../src/index.ts'
import { bench, say, type Bench, type Reply } from '../../../core/test/loop/boot.ts'

const route = { model: 'test/model', url: 'http://hub/v1/x' }

const thinking: Reply = [
  { type: 'reasoning', text: 'hm' },
  { type: 'reasoning', text: '', replay: { signature: 'expired' } },
  ...say('first'),
]

const refusing = (message: string): Reply =>
  async function* () {
    throw normaliseHttp(route, { status: 400, body: { error: { message } } })
  }

const signature = 'messages.1.content.0: Invalid `signature` in `thinking` block'

describe('reasoning that a server takes no longer', () => {
  let made: Bench
  const replies: Reply[] = []
  beforeEach(async () => {
    made = await bench(replies, { rows: [{ plugin: retry }, { plugin: rebuild }] })
  })
  afterEach(async () => {
    replies.length = 0
    await made.close()
  })

  const turn = async () => {
    await made.agent.send('go', { wake: false })
    return made.agent.wake()
  }
  const parts = (at: number) => {
    const messages = made.requests[at]?.messages ?? []
    return messages.flatMap(({ message }) => message.content.map(({ type }) => type))
  }

  it.each([
    signature,
    "Item 'rs_1' of type 'reasoning' was provided without its required following item",
    'The encrypted content for item rs_1 could not be verified',
    'reasoning_content is not a permitted field',
  ])('is dropped once and for all after "%s"', async (message) => {
    replies.push(thinking, refusing(message), say('second'), say('third'))
    await turn()
    expect(await turn()).toMatchObject({ reason: 'completed' })
    expect(await turn()).toMatchObject({ reason: 'completed' })
    const sent = made.requests.map((_, at) => parts(at).includes('reasoning'))
    expect(sent).toEqual([false, true, false, false])
    const facts = await made.facts()
    expect(facts.filter((fact) => reasoningDropped.is(fact))).toMatchObject([
      { data: { turn: 2, step: 1, attempt: 1, provider: 'test', model: 'model' } },
    ])
    expect(facts.map(({ type }) => type)).not.toContain('request/mismatch')
    expect(made.logged).toEqual([])
  })

  it('leaves each attempt with a request of its own in the log', async () => {
    replies.push(thinking, refusing(signature), say('second'))
    await turn()
    await turn()
    const facts = await made.facts()
    const digests = facts.flatMap((fact) => (attemptStart.is(fact) ? [fact.data.digest] : []))
    expect(new Set(digests).size).toBe(3)
    const logged = await Promise.all([1, 2].map((attempt) => requestAt(facts, 2, 1, attempt)))
    expect(logged.map((request) => request?.messages)).toEqual(
      made.requests.slice(1).map(({ messages }) => messages),
    )
  })

  it('keeps what is reasoned afterwards', async () => {
    replies.push(thinking, refusing(signature), thinking, say('third'))
    await turn()
    await turn()
    await turn()
    expect(parts(3).filter((type) => type === 'reasoning')).toHaveLength(1)
  })

  it('is dropped once: a server that goes on refusing fails the turn', async () => {
    replies.push(thinking, refusing(signature), refusing(signature))
    await turn()
    expect(await turn()).toMatchObject({ error: { code: 'INVALID_REQUEST' } })
    expect(made.requests).toHaveLength(3)
  })

  it('is no reason to try again where none was sent', async () => {
    replies.push(say('first'), refusing(signature))
    await turn()
    expect(await turn()).toMatchObject({ error: { code: 'INVALID_REQUEST' } })
    expect(made.requests).toHaveLength(2)
  })
})
