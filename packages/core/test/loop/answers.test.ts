import { afterEach, describe, expect, it } from 'vitest'
import { definePlugin } from '@cordage/core/kernel'
import { request, requestError } from '@cordage/core/loop'
import { textOf } from '@cordage/core/message'
import { modelError, type ModelEvent } from '@cordage/core/model'
import type { Fact } from '@cordage/core/session'
import { storeError } from '@cordage/core/store'
import { bench, call, say, type Bench, type BenchOptions, type Reply } from './boot.ts'

const open: Bench[] = []
async function run(replies: Reply[], options?: BenchOptions) {
  const made = await bench(replies, options)
  open.push(made)
  await made.agent.send('go', { wake: false })
  const outcome = await made.agent.wake()
  return { made, outcome: outcome!, facts: await made.facts() }
}
afterEach(async () => {
  for (const made of open.splice(0)) await made.close()
})

const finish = (reason: string): ModelEvent => ({ type: 'finish', reason })
const dataOf = (facts: Fact[], type: string) =>
  facts.filter((fact) => fact.type === type).map((fact) => fact.data)

const retryTwice = definePlugin({
  name: 'retry-twice',
  apply: (ctx) =>
    void requestError.use(ctx, async ({ attempt }) =>
      attempt < 3 ? { kind: 'retry', delayMs: 1 } : { kind: 'fail' },
    ),
})

describe('an answer', () => {
  it('without a finish is a failure, kept for people and never shown to the model', async () => {
    const cut: Reply = [{ type: 'text', text: 'half an ans' }]
    const { outcome, facts, made } = await run([cut])
    expect(outcome).toMatchObject({ reason: 'error', error: { code: 'STREAM_CLOSED' } })
    expect(dataOf(facts, 'attempt/failed')).toMatchObject([{ partial: 'half an ans' }])
    expect(made.session.surface.some(({ message }) => message.role === 'assistant')).toBe(false)
  })

  it('that fails is retried in the same step with the same request', async () => {
    const broken: Reply = async function* () {
      throw modelError('SERVER', { model: 'test/model', reason: 'HTTP 503' })
    }
    const { outcome, facts, made } = await run([broken, broken, say('at last')], {
      rows: [{ plugin: retryTwice }],
    })
    expect(outcome).toMatchObject({ reason: 'completed' })
    expect(dataOf(facts, 'attempt/failed')).toMatchObject([
      { attempt: 1, retryInMs: 1, error: { code: 'SERVER' } },
      { attempt: 2, retryInMs: 1 },
    ])
    expect(dataOf(facts, 'step/start')).toHaveLength(1)
    const digests = dataOf(facts, 'attempt/start').map(
      (data) => (data as { digest: string }).digest,
    )
    expect(new Set(digests).size).toBe(1)
    expect(made.requests[0]).toBe(made.requests[2])
  })

  it('that is empty is retried, then nudged once, then an error', async () => {
    const empty: Reply = [{ type: 'text', text: ' \n ' }, finish('stop')]
    const { outcome, facts, made } = await run([empty, empty, empty, empty, empty, empty], {
      rows: [{ plugin: retryTwice }],
    })
    expect(outcome).toMatchObject({ reason: 'error', error: { code: 'ANSWER_EMPTY' } })
    expect(dataOf(facts, 'attempt/failed')).toHaveLength(6)
    expect(textOf(made.requests[3]!.messages.at(-1)!.message)).toContain('was empty')
  })

  it('that is empty or broken off is charged for where tokens were counted', async () => {
    const usage = { inputTokens: 100, outputTokens: 5 }
    const empty: Reply = [{ type: 'usage', usage }, finish('stop')]
    const broken: Reply = [
      { type: 'usage', usage },
      { type: 'tool-call', index: 0, id: 'a', name: 'write', arguments: '{"content": "ha' },
    ]
    const { facts, made } = await run([empty, broken, say('ok')], {
      rows: [{ plugin: retryTwice }],
    })
    expect(dataOf(facts, 'attempt/failed')).toMatchObject([{ usage }, { usage }])
    expect(made.agent.account.totals.usage).toEqual({ inputTokens: 210, outputTokens: 12 })
  })

  it('of calls alone is estimated by them where the route counts nothing', async () => {
    const text = JSON.stringify({ text: 'word '.repeat(400) })
    const { made } = await run([call({ id: 'a', name: 'none', arguments: text }), say('ok')])
    expect(made.agent.account.totals.usage.outputTokens).toBeGreaterThan(400)
  })

  it('that cannot be written is not asked for again', async () => {
    const stubborn = definePlugin({
      name: 'stubborn',
      apply: (ctx) => void requestError.use(ctx, async () => ({ kind: 'retry', delayMs: 1 })),
    })
    const full = storeError('STORE_WRITE_FAILED', { id: 'x', reason: 'the disk is full' })
    const made = await bench([say('once'), say('twice')], {
      rows: [{ plugin: stubborn }],
      session: async (root) => {
        const session = await root.sessions.create({ project: '/project', depth: 0 })
        const append = session.append.bind(session)
        let failed = false
        session.append = async (facts, options) => {
          const added = await append(facts, options)
          if (failed || !facts.some(({ type }) => type === 'assistant/message')) return added
          failed = true
          throw full
        }
        return session
      },
    })
    open.push(made)
    await made.agent.send('go', { wake: false })
    const outcome = await made.agent.wake()
    expect(outcome).toMatchObject({ reason: 'error', error: { code: 'STORE_WRITE_FAILED' } })
    expect(made.requests).toHaveLength(1)
    expect(await made.types()).not.toContain('attempt/failed')
  })

  it('of reasoning only is nudged once, then an error', async () => {
    const musing: Reply = [{ type: 'reasoning', text: 'hmm' }, finish('stop')]
    const first = await run([musing, say('42')])
    expect(first.outcome).toMatchObject({ reason: 'completed' })
    const between = call({ id: 'a', name: 'x', arguments: '{}' })
    const again = await run([musing, between, musing, say('42')])
    expect(again.outcome).toMatchObject({ reason: 'completed' })
    const second = await run([musing, musing])
    expect(second.outcome).toMatchObject({ reason: 'error', error: { code: 'ANSWER_EMPTY' } })
  })

  it('that reaches the output limit goes on, bounded', async () => {
    const long: Reply = [{ type: 'text', text: 'and so ' }, finish('max-tokens')]
    const some = await run([long, say('the end')])
    expect(some.outcome).toMatchObject({ reason: 'completed' })
    const { outcome, made } = await run([long, long, long, say('never asked')])
    expect(outcome).toMatchObject({ reason: 'max-tokens', error: { code: 'ANSWER_CUT' } })
    expect(made.requests).toHaveLength(3)
    const short = await run([
      long,
      long,
      call({ id: 'a', name: 'x', arguments: '{}' }),
      long,
      say('.'),
    ])
    expect(short.outcome).toMatchObject({ reason: 'completed' })
  })

  it('cut within a tool call runs nothing and says so to the model', async () => {
    const cut: Reply = [
      { type: 'text', text: 'I will write it.' },
      { type: 'tool-call', index: 0, id: 'a', name: 'write', arguments: '{"content": "half' },
      finish('max-tokens'),
    ]
    const { facts, made } = await run([cut, say('done')])
    expect(dataOf(facts, 'tool/call')).toEqual([])
    expect(textOf(made.requests[1]!.messages.at(-1)!.message)).toContain('has not run')
  })

  it('that is filtered is an error with that code, however far it came, and runs nothing', async () => {
    const half: ModelEvent = { type: 'text', text: 'First, take' }
    const [asked] = call({ id: 'a', name: 'write', arguments: '{}' })
    for (const said of [[], [half], [half, asked!]]) {
      const { outcome, facts } = await run([[...said, finish('content-filter')]])
      expect(outcome).toMatchObject({ reason: 'error', error: { code: 'CONTENT_FILTERED' } })
      expect(dataOf(facts, 'assistant/message')).toEqual([])
      expect(dataOf(facts, 'tool/call')).toEqual([])
      const partial = said.length > 0 ? { partial: 'First, take' } : {}
      expect(dataOf(facts, 'attempt/failed')).toMatchObject([partial])
    }
  })

  it('that stops coming is a time-out', async () => {
    const silent: Reply = async function* (_request, signal) {
      yield { type: 'text', text: 'wait for it' }
      await new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error)),
      )
    }
    const { outcome } = await run([silent], { loop: { streamIdleTimeoutMs: 60 } })
    expect(outcome).toMatchObject({ reason: 'error', error: { code: 'TIMEOUT' } })
  })
})

describe('a cancellation', () => {
  it('keeps what was said, without the calls, as an interrupted message', async () => {
    const slow: Reply = async function* (_request, signal) {
      yield { type: 'text', text: 'First I ' }
      yield { type: 'tool-call', index: 0, id: 'a', name: 'bash', arguments: '{"comm' }
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    }
    const made = await bench([slow])
    open.push(made)
    await made.agent.send('go')
    await expect.poll(() => made.requests.length).toBe(1)
    await new Promise((resolve) => setTimeout(resolve, 20))
    await made.agent.cancel('SIGINT')
    const [message] = dataOf(await made.facts(), 'assistant/message') as [
      { interrupted: boolean; message: { content: unknown[] } },
    ]
    expect(message).toMatchObject({
      interrupted: true,
      message: { content: [{ type: 'text', text: 'First I ' }] },
    })
    expect(made.agent.status).toEqual({ kind: 'idle' })
  })

  it('leaves an adapter behind that ignores it, and drops what it says later', async () => {
    let late = false
    const deaf: Reply = async function* () {
      yield { type: 'text', text: 'never mind you' }
      await new Promise((resolve) => setTimeout(resolve, 400))
      late = true
      yield { type: 'text', text: ' LATE' }
      yield finish('stop')
    }
    const made = await bench([deaf])
    open.push(made)
    await made.agent.send('go')
    await expect.poll(() => made.requests.length).toBe(1)
    await made.agent.cancel()
    expect(late).toBe(false)
    await expect.poll(() => late).toBe(true)
    const facts = await made.facts()
    expect(dataOf(facts, 'assistant/message')).toMatchObject([{ interrupted: true }])
    expect(JSON.stringify(facts)).not.toContain('LATE')
  })

  it('keeps what a deaf adapter had said, whatever hooks are around the request', async () => {
    const said = Promise.withResolvers<void>()
    const deaf: Reply = async function* () {
      yield { type: 'text', text: 'so far' }
      said.resolve()
      await new Promise(() => {})
    }
    const wrapping = definePlugin({
      name: 'wrapping',
      apply: (ctx) =>
        void request.use(ctx, async (_, next) => {
          await new Promise((resolve) => setImmediate(resolve))
          return next()
        }),
    })
    const made = await bench([deaf], { rows: [{ plugin: wrapping }] })
    open.push(made)
    await made.agent.send('go')
    await said.promise
    await made.agent.cancel()
    const [message] = dataOf(await made.facts(), 'assistant/message')
    expect(message).toMatchObject({ message: { content: [{ text: 'so far' }] } })
  })

  it('ends a backoff at once, also one that is longer than a timer can wait', async () => {
    const broken: Reply = async function* () {
      throw modelError('SERVER', { model: 'test/model' })
    }
    const patient = definePlugin({
      name: 'patient',
      apply: (ctx) => void requestError.use(ctx, async () => ({ kind: 'retry', delayMs: 2 ** 32 })),
    })
    const made = await bench([broken], { rows: [{ plugin: patient }] })
    open.push(made)
    await made.agent.send('go')
    const waiting = `retry in ${Math.ceil(2 ** 32 / 1000)} s`
    await expect.poll(() => made.agent.status).toMatchObject({ waiting })
    await new Promise((resolve) => setTimeout(resolve, 20))
    await made.agent.cancel()
    expect(made.agent.status).toEqual({ kind: 'idle' })
    expect(made.requests).toHaveLength(1)
  })
})
