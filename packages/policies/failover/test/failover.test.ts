import { afterEach, describe, expect, it } from 'vitest'
import { definePlugin } from '@cordage/core/kernel'
import { modelError, type ModelProvider } from '@cordage/core/model'
import { requestHeader } from '@cordage/core/session'
import commands from '../../../core/src/command/index.ts'
import { bench, say, type Bench, type Reply } from '../../../core/test/loop/boot.ts'
import { createBreakerPlugin } from '../../breaker/src/index.ts'
import retry from '../../retry/src/index.ts'
import failover from '../src/index.ts'

const open: Bench[] = []
afterEach(async () => {
  for (const made of open.splice(0)) await made.close()
})

const failing = (code: Parameters<typeof modelError>[0], retryAfterMs?: number): Reply =>
  async function* () {
    const details = retryAfterMs === undefined ? {} : { retryAfterMs }
    throw modelError(code, { model: 'test/model' }, { details })
  }

/** A second provider, which always answers. */
function other(id: string, available = true): ModelProvider {
  const info = { contextWindow: 100_000, maxTokens: 50, input: ['text'], declared: true } as const
  return {
    id,
    displayName: id,
    api: 'test',
    available: () => available,
    info: (model) => ({ id: model, ...info, price: { input: 1, output: 1_000_000 } }),
    declared: () => [],
    list: async () => [],
    body: async ({ messages }) => ({ messages }),
    stream: async function* () {
      yield* say(`said by ${id}`)
    },
  }
}

const chain = ['test/model', 'spare/model']

async function start(replies: Reply[], config: Record<string, unknown> = {}, breaks = false) {
  let now = 1_000
  const spares = definePlugin({
    name: 'test-spares',
    inject: ['models'],
    apply: (ctx) => {
      ctx.models.register(ctx, other('spare'))
      ctx.models.register(ctx, other('keyless', false))
    },
  })
  const breaker = createBreakerPlugin({ now: () => now, after: () => () => {} })
  const made = await bench(replies, {
    rows: [
      { plugin: commands },
      { plugin: spares },
      { plugin: retry, config: { maxRetries: 1, initialDelayMs: 1, maxDelayMs: 1 } },
      { plugin: failover, config: { roles: { main: chain }, ...config } },
      ...(breaks ? [{ plugin: breaker, config: { maxFailures: 2, coolDownMs: 10_000 } }] : []),
    ],
  })
  open.push(made)
  const ask = async () => {
    await made.agent.send('go', { wake: false })
    const outcome = await made.agent.wake()
    const [part] = outcome?.answer?.content ?? []
    return outcome?.error?.code ?? (part?.type === 'text' ? part.text : outcome?.reason)
  }
  return { ...made, ask, wait: (ms: number) => void (now += ms) }
}

describe('policy-failover', () => {
  it('goes to the next model once nobody tries the first one again', async () => {
    const { ask, requests, facts } = await start([failing('SERVER'), failing('SERVER')])
    expect(await ask()).toBe('said by spare')
    expect(requests).toHaveLength(2)
    const failures = (await facts()).filter(({ type }) => type === 'attempt/failed')
    expect(failures.map(({ data }) => data)).toMatchObject([
      { attempt: 1, error: { code: 'SERVER' } },
      { attempt: 2, error: { code: 'SERVER' }, nextModel: 'spare/model' },
    ])
  })

  it.each(['AUTH', 'QUOTA', 'UNKNOWN_MODEL', 'TRANSPORT', 'TIMEOUT', 'RATE_LIMIT'] as const)(
    'takes %s for a failure that another route may not have',
    async (code) => {
      const { ask } = await start([failing(code), failing(code)])
      expect(await ask()).toBe('said by spare')
    },
  )

  it.each(['INVALID_REQUEST', 'CONTENT_FILTERED', 'CONTEXT_WINDOW_EXCEEDED'] as const)(
    'lets %s end the turn: the next route would say the same',
    async (code) => {
      const { ask } = await start([failing(code)])
      expect(await ask()).toBe(code)
    },
  )

  it('does not wait for a server that asks for longer than its patience', async () => {
    const { ask, requests } = await start([failing('RATE_LIMIT', 61_000)])
    expect(await ask()).toBe('said by spare')
    expect(requests).toHaveLength(1)
  })

  it('fails with the last failure where no other model is left', async () => {
    const roles = { main: ['spare/model', 'test/model'] }
    const { ask } = await start([failing('QUOTA')], { roles })
    expect(await ask()).toBe('QUOTA')
  })

  it('passes over models without a credential and providers that nobody has', async () => {
    const roles = { main: ['test/model', 'keyless/model', 'nowhere/model', 'spare/model'] }
    const { ask } = await start([failing('AUTH')], { roles })
    expect(await ask()).toBe('said by spare')
  })

  it('charges each model for what it said', async () => {
    const half: Reply = async function* () {
      yield { type: 'text', text: 'half' }
      yield { type: 'usage', usage: { inputTokens: 7, outputTokens: 1 } }
      throw modelError('QUOTA', { model: 'test/model' })
    }
    const { ask, facts, agent } = await start([half])
    expect(await ask()).toBe('said by spare')
    const spent = (await facts()).filter(({ data }) => 'usage' in (data as object))
    expect(spent.map(({ type, data }) => [type, data])).toMatchObject([
      ['attempt/failed', { usage: { inputTokens: 7, outputTokens: 1 } }],
      ['assistant/message', { usage: { inputTokens: 10 }, costUsd: 2.00001 }],
    ])
    expect(agent.account.totals.usage).toMatchObject({ inputTokens: 17, outputTokens: 3 })
  })

  it('tries the first model again at the next turn, at no cost until its breaker has cooled', async () => {
    const replies = [failing('SERVER'), failing('SERVER'), say('back')]
    const { ask, requests, wait, facts } = await start(replies, {}, true)
    expect([await ask(), await ask()]).toEqual(['said by spare', 'said by spare'])
    expect(requests).toHaveLength(2)
    wait(10_000)
    expect(await ask()).toBe('back')
    const headers = (await facts()).filter((fact) => requestHeader.is(fact))
    expect(headers.map(({ data }) => data.insteadOf?.model)).toEqual([
      undefined,
      'test/model',
      undefined,
      'test/model',
      undefined,
    ])
  })
})

describe('models by role', () => {
  it('make the first one that has a credential the default', async () => {
    const roles = {
      main: ['keyless/model', 'spare/large', 'test/model'],
      title: ['spare/small'],
    }
    const { root } = await start([], { roles })
    const named = (role?: string) => {
      const { provider, model } = root.models.default(role) ?? { provider: '', model: '' }
      return `${provider}/${model}`
    }
    expect([named(), named('title'), named('summary')]).toEqual([
      'spare/large',
      'spare/small',
      'spare/large',
    ])
    expect(root.models.chain('main')).toEqual(roles.main)
    const locked = await start([], { roles: { ...roles, summary: ['keyless/model'] } })
    expect(locked.root.models.default('summary')).toMatchObject({ model: 'large' })
    expect(root.models.chain('summary')).toEqual([])
  })
})
