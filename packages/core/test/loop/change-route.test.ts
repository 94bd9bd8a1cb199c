import { afterEach, describe, expect, it } from 'vitest'
import { requestError, type RequestErrorResult } from '@cordage/core/loop'
import { definePlugin } from '@cordage/core/kernel'
import { modelError, type ModelProvider } from '@cordage/core/model'
import { requestAt, requestHeader } from '@cordage/core/session'
import { bench, call, say, type Bench, type BenchOptions, type Reply } from './boot.ts'

const open: Bench[] = []
afterEach(async () => {
  for (const made of open.splice(0)) await made.close()
})

const failing: Reply = async function* () {
  throw modelError('SERVER', { model: 'test/model' })
}

const tries: number[] = []

/** Goes to the models of `chain`, one after the other, each after `times` failures. */
function moving(chain: readonly string[], times = 1) {
  return definePlugin({
    name: 'test-moving',
    apply: (ctx) => {
      requestError.use(ctx, async (failed): Promise<RequestErrorResult> => {
        tries.push(failed.tries)
        if (failed.tries < times) return { kind: 'retry', delayMs: 0 }
        const at = chain.indexOf(`${failed.model.provider}/${failed.model.model}`)
        const model = chain[at + 1]
        return model === undefined ? { kind: 'fail' } : { kind: 'retry', delayMs: 0, model }
      })
    },
  })
}

async function start(replies: Reply[], chain: readonly string[], options: BenchOptions = {}) {
  tries.length = 0
  const made = await bench(replies, { rows: [{ plugin: moving(chain, 2) }], ...options })
  open.push(made)
  const ask = async (text: string) => {
    await made.agent.send(text, { wake: false })
    return made.agent.wake()
  }
  return { ...made, ask }
}

/** A provider whose models take no effort; it notes the parameters of each request. */
function without(seen: unknown[]): ModelProvider {
  const info = { contextWindow: 100_000, maxTokens: 50, input: ['text'], declared: true } as const
  return {
    id: 'plain',
    displayName: 'Plain',
    api: 'test',
    available: () => true,
    info: (id) => ({ id, ...info }),
    declared: () => [],
    list: async () => [],
    body: async ({ params }) => ({ params }),
    async *stream({ params }) {
      seen.push(params)
      yield* say('done')
    },
  }
}

const chain = ['test/model', 'test/other']

describe('another model that takes a step over', () => {
  it('gets the same request, keeps the turn, and is left again at the next one', async () => {
    const replies = [failing, failing, call({ id: 'c1', name: 'missing', arguments: '{}' })]
    const made = await start([...replies, say('done'), say('back')], chain)
    expect(await made.ask('go')).toMatchObject({ reason: 'completed' })
    expect(await made.ask('again')).toMatchObject({ reason: 'completed' })
    const asked = made.requests.map(({ model }) => model)
    expect(asked).toEqual(['model', 'model', 'other', 'other', 'model'])
    const [first, , third] = made.requests
    expect(third?.messages.map(({ message }) => message)).toEqual(
      first?.messages.map(({ message }) => message),
    )
    expect(third?.tools).toEqual(first?.tools)
    expect(tries).toEqual([1, 2])
  })

  it('is in the log: who failed, who takes over, and each request as it was', async () => {
    const made = await start([failing, failing, say('done')], chain)
    await made.ask('go')
    const facts = await made.facts()
    const failures = facts.filter(({ type }) => type === 'attempt/failed')
    expect(failures.map(({ data }) => (data as { nextModel?: string }).nextModel)).toEqual([
      undefined,
      'test/other',
    ])
    const headers = facts.filter((fact) => requestHeader.is(fact))
    expect(headers.map(({ data }) => [data.model, data.insteadOf?.model, data.reason])).toEqual([
      ['model', undefined, 'initial'],
      ['other', 'test/model', 'change'],
    ])
    for (const [index, request] of made.requests.entries()) {
      const logged = await requestAt(facts, 1, 1, index + 1)
      expect(logged?.header).toMatchObject({ model: request.model, params: request.params })
      expect(logged?.messages).toEqual(request.messages)
    }
    const [answer] = facts.filter(({ type }) => type === 'assistant/message')
    expect(answer?.data).toMatchObject({
      attempt: 3,
      message: { source: { provider: 'test', model: 'other' } },
    })
  })

  it('does without an effort that it does not know', async () => {
    const efforts: unknown[] = []
    const plain = definePlugin({
      name: 'test-plain',
      inject: ['models'],
      apply: (ctx) => ctx.models.register(ctx, without(efforts)),
    })
    const made = await start([failing, failing], chain, {
      choice: { params: { effort: 'high' } },
      rows: [{ plugin: moving(['test/model', 'plain/model'], 2) }, { plugin: plain }],
    })
    expect(await made.ask('go')).toMatchObject({ reason: 'completed' })
    expect(made.requests.map(({ params }) => params.effort)).toEqual(['high', 'high'])
    expect(efforts).toEqual([{ maxTokens: 50 }])
    const chosen = { model: 'test/model', params: { effort: 'high' } }
    expect(made.session.requestHeader?.insteadOf).toEqual(chosen)
  })

  it('gets a system prompt that came after history back in front, where it takes it only there', async () => {
    let text = 'Be brief.'
    const tone = definePlugin({
      name: 'test-tone',
      inject: ['prompt'],
      apply: (ctx) => ctx.prompt.section(ctx, { id: 'tone', render: () => text }),
    })
    const made = await start([say('one'), failing, failing, say('two')], [], {
      choice: { model: 'test/in-history' },
      rows: [{ plugin: moving(['test/in-history', 'test/model'], 2) }, { plugin: tone }],
    })
    await made.ask('go')
    text = 'Be thorough.'
    expect(await made.ask('again')).toMatchObject({ reason: 'completed' })
    const roles = made.requests.map(({ messages }) => messages.map(({ message }) => message.role))
    const before = ['system', 'user', 'assistant', 'system', 'user']
    expect(roles.slice(1)).toEqual([before, before, ['system', 'user', 'assistant', 'user']])
    expect(made.requests.at(-1)?.messages[0]?.message.content).toEqual([{ type: 'text', text }])
  })

  it('that nobody knows ends the turn, with the failure in the log', async () => {
    const made = await start([failing, failing], ['test/model', 'nowhere/model'])
    expect(await made.ask('go')).toMatchObject({ error: { code: 'MODEL_PROVIDER_UNKNOWN' } })
    const types = await made.types()
    expect(types.filter((type) => type === 'attempt/failed')).toHaveLength(2)
  })

  it('may be anything that a hook gives but a text, which is no answer', async () => {
    const odd = definePlugin({
      name: 'test-odd',
      apply: (ctx) => {
        const answer = { kind: 'retry', delayMs: 0, model: 7 } as unknown as RequestErrorResult
        requestError.use(ctx, () => answer)
      },
    })
    const made = await start([failing], chain, { rows: [{ plugin: odd }] })
    expect(await made.ask('go')).toMatchObject({ error: { code: 'HOOK_ANSWER_INVALID' } })
  })
})
