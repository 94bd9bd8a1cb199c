import { definePlugin } from '@cordage/core/kernel'
import { textOf, type Usage } from '@cordage/core/message'
import {
  modelError,
  type ModelEvent,
  type ModelProvider,
  type ModelRequest,
} from '@cordage/core/model'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { call } from '../../../core/test/loop/boot.ts'
import { delegate, openFamily } from '../../../coordination/subagent/test/family.ts'
import retry from '../../../policies/retry/src/index.ts'
import { breakDown, sumOf, type Breakdown } from '../src/usage/breakdown.ts'
import { usageReader, type SessionUsage } from '../src/usage/session-usage.ts'

const tokens = fc.nat(5_000)
const usage: fc.Arbitrary<Usage> = fc.record(
  {
    inputTokens: tokens,
    outputTokens: tokens,
    cacheReadTokens: tokens,
    cacheWriteTokens: tokens,
    reasoningTokens: tokens,
  },
  { requiredKeys: ['inputTokens', 'outputTokens'] },
)
/** What a model does with a request. It counts what that took, or says nothing of it. */
const reply = fc.record({
  does: fc.constantFrom('say', 'call', 'spawn', 'fork', 'fail', 'break off', 'say nothing'),
  usage: fc.option(usage, { nil: undefined }),
  /** What it means is the choice of the turn. */
  dear: fc.boolean(),
})
interface Reply {
  readonly does: string
  readonly usage: Usage | undefined
  readonly dear: boolean
}

async function* eventsOf({ does, usage: counted }: Reply, isChild: boolean) {
  if (does === 'fail') throw modelError('SERVER', { model: 'test/model' })
  if (does === 'call') yield* [...call({ id: 'c', name: 'nobody', arguments: '{}' })].slice(0, -1)
  else if (does === 'spawn' && !isChild) yield* delegate('subagent', 'one').slice(0, -1)
  else if (does === 'fork' && !isChild) yield* delegate('subagent_fork', 'one').slice(0, -1)
  else if (does !== 'say nothing') yield { type: 'text', text: '好' } satisfies ModelEvent
  if (counted) yield { type: 'usage', usage: counted } satisfies ModelEvent
  if (does === 'break off') throw modelError('STREAM_CLOSED', { model: 'test/model' })
  yield { type: 'finish', reason: 'stop' } satisfies ModelEvent
}

/** Two models that answer alike: one has a price. */
function pricedRow(replies: Reply[]) {
  const provider: ModelProvider = {
    id: 'priced',
    displayName: 'Priced',
    api: 'test',
    available: () => true,
    info: (id) => ({
      id,
      contextWindow: 1_000_000,
      maxTokens: 1_000,
      input: ['text'],
      declared: true,
      ...(id === 'dear' ? { price: { input: 3, output: 15, cacheRead: 0.3 } } : {}),
    }),
    declared: () => [],
    list: async () => [],
    body: async ({ model, messages }) => ({ model, messages: messages.length }),
    stream: (request: ModelRequest) => {
      const isChild = request.messages.some(({ message }) => {
        return message.source.kind === 'plugin' && textOf(message).includes('child')
      })
      return eventsOf(replies.shift() ?? { does: 'say', usage: undefined, dear: false }, isChild)
    },
  }
  return definePlugin({
    name: 'priced-model',
    inject: ['models'],
    apply: (ctx) => ctx.models.register(ctx, provider),
  })
}

function stepsOf({ own, children }: SessionUsage): number {
  return children.reduce((sum, child) => sum + stepsOf(child), own.steps)
}

it('comes to what the ledger has, whatever failed, was tried again or was given to children', async () => {
  const replies: Reply[] = []
  await using family = await openFamily(() => [], {
    rows: [
      { plugin: pricedRow(replies) },
      { plugin: retry, config: { maxRetries: 2, initialDelayMs: 0, maxDelayMs: 0 } },
    ],
  })
  const { root } = family.bench
  const turn = fc.array(reply, { minLength: 1, maxLength: 4 })
  // Each one is sessions, agents and children: so many at most, however many other properties get.
  for (const turns of fc.sample(fc.array(turn, { minLength: 1, maxLength: 2 }), 50)) {
    const agent = await root.agents.spawn({
      session: await root.sessions.create({ project: '/project', depth: 0 }),
      choice: { model: 'priced/dear', params: {} },
      authority: { mode: 'full-access', writableRoots: ['/project'] },
    })
    for (const one of turns) {
      replies.splice(0, Infinity, ...one)
      agent.choice = { model: `priced/${one[0]?.dear ? 'dear' : 'free'}`, params: {} }
      await agent.send('go on', { wake: false })
      await agent.wake()
    }
    const { totals } = agent.account
    await agent.close()
    const all = await root.store.list({ children: true })
    const summary = all.find(({ header }) => header.id === agent.id)
    if (!summary) throw new Error('the session is not listed')
    const read = await usageReader(root.store, all)(summary)
    expect(read.total.usage).toEqual(totals.usage)
    expect(read.total.costUsd).toBeCloseTo(totals.costUsd, 9)
    expect(read.total.unpriced > 0).toBe(totals.unpriced)
    expect(stepsOf(read)).toBe(totals.steps)
    for (const by of ['model', 'child', 'purpose', 'day'] satisfies Breakdown[]) {
      const { costUsd, ...sum } = sumOf(breakDown(by, [read]))
      expect({ ...read.total, ...sum }, by).toEqual(read.total)
      expect(costUsd).toBeCloseTo(totals.costUsd, 9)
    }
    for (const { header } of all) {
      if (header.id !== family.bench.session.id) await root.store.delete(header.id)
    }
  }
})
