/** The rows of the source article's lists on compression and of the manual's chapter 5, in its words. */
import { computeSafeSplitIndex, toolCallsPaired } from '@cordage/core/compaction'
import { textOf } from '@cordage/core/message'
import { assistantMessage, compactionEnd, compactionPrune } from '@cordage/core/session'
import { defineTool } from '@cordage/core/tool'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { call, say, type Reply } from '../../../core/test/loop/boot.ts'
import pruning from '../../pruning/src/index.ts'
import { budgetOf } from '../src/budget.ts'
import { compactionConfig } from '../src/config.ts'
import { failing, LONG, saying, snapshot, stage, type Stage } from './stage.ts'

let made: Stage
afterEach(() => made?.close())

const small = {
  trigger: 'messages',
  totalTokenThreshold: 1_000,
  keepRecentMessageCount: 2,
  minMessagesToSummarize: 2,
  summaryRetries: 0,
}
const dump = defineTool({
  name: 'dump',
  description: 'dump',
  parameters: z.strictObject({}),
  effects: () => [],
  execute: async () => ({ text: 'x1y2 '.repeat(3_000) }),
  render: ({ text }) => text,
})

/** Two turns, after which the next one compacts. */
async function due(...replies: Reply[]) {
  made = await stage([saying(LONG, 10), saying(LONG, 1_000), ...replies], small)
  await made.turn('one')
  await made.turn('two')
}

/** Everything that a compaction may change. */
async function state() {
  const { surface } = made.session
  return { surface, usage: made.session.state(compactionEnd).usage }
}

async function calls(count: number, ...replies: Reply[]) {
  const batch = Array.from({ length: count }, (_, at) => ({
    id: `c${at}`,
    name: 'dump',
    arguments: '{}',
  }))
  const rows = [{ plugin: pruning, config: { keepRecentMessages: 0 } }]
  made = await stage(
    [call(...batch), say('seen'), say('two'), ...replies],
    { minMessagesToSummarize: 2 },
    {
      rows,
      tools: (add) => add(dump),
    },
  )
  await made.turn('Dump it.')
  await made.turn('And?')
}

describe('best practices: compression', () => {
  it('compression must be transactional: a failure changes no part of the history', async () => {
    await due(say('nothing of use'), failing('AUTH'))
    const before = await state()
    await made.turn('three')
    const { surface, usage } = await state()
    expect(surface.slice(0, before.surface.length)).toEqual(before.surface)
    expect(usage).toBe(before.usage)
  })

  it('the split point never cuts between a tool call and its result', async () => {
    await calls(3, say(snapshot()))
    const messages = made.session.surface.map(({ message }) => message)
    for (let keep = 0; keep <= messages.length; keep += 1) {
      const split = computeSafeSplitIndex(messages, keep)
      if (split < 0) continue
      expect(toolCallsPaired(messages.slice(0, split))).toBe(true)
      expect(toolCallsPaired(messages.slice(split))).toBe(true)
    }
    await made.command('/compact')
    expect(toolCallsPaired(made.session.surface.map(({ message }) => message))).toBe(true)
  })

  it('usage of the compression itself is marked with its source, against compression loops', async () => {
    await due(saying(snapshot(), 5_000), failing('AUTH'), say('four'))
    await made.turn('three')
    expect(made.session.state(compactionEnd).usage).toMatchObject({ source: 'context_compression' })
    await made.turn('four')
    expect(await made.ends()).toEqual(['ok'])
  })

  it('usage is attributed only after the history was committed', async () => {
    await due(saying(snapshot(), 70), say('three'))
    await made.turn('three')
    const facts = (await made.facts()).filter(({ type }) => type.startsWith('compaction/'))
    expect(facts.map(({ type }) => type)).toEqual([
      'compaction/start',
      'compaction/summary',
      'compaction/end',
    ])
    expect(facts[2]?.data).toMatchObject({ spent: { usage: { inputTokens: 70 } } })
  })
})

describe('common mistakes', () => {
  it('a failed compression that changed part of the history: it is all as it was instead', async () => {
    await due(say(snapshot().slice(0, -30)), failing('AUTH'))
    const { surface } = await state()
    expect(await made.turn('three')).toMatchObject({ error: { code: 'AUTH' } })
    expect((await state()).surface.slice(0, surface.length)).toEqual(surface)
    expect(await made.ends()).toEqual([expect.stringContaining('(summary_malformed)')])
  })

  it('a split within a pair, with orphans on both sides: there is none instead', () => {
    const asks = {
      role: 'assistant',
      content: [{ type: 'tool-call', id: 'a', name: 't', arguments: '{}' }],
    } as const
    const gives = {
      role: 'tool',
      content: [{ type: 'tool-result', callId: 'a', name: 't', content: [], isError: false }],
    } as const
    expect(computeSafeSplitIndex([asks, gives], 1)).toBe(-1)
  })

  it('usage of a compression without its source, and a loop: it is skipped as the last usage', async () => {
    await due(saying(snapshot(), 9_999), failing('AUTH'))
    await made.turn('three')
    const { root, agent } = made
    const target = root.models.resolve(agent.choice.model)
    const { signal } = new AbortController()
    const config = { trigger: 'pressure', target, signal } as const
    expect((await root.compaction.compact(agent, config)).result.outcome).toBe('skipped')
  })
})

describe('the checklist of verification: compression', () => {
  it('exceeding the threshold triggers a compression', async () => {
    await due(say(snapshot('short')), say('three'))
    expect(await made.ends()).toEqual([])
    await made.turn('three')
    expect(await made.ends()).toEqual(['ok'])
  })

  it('the history is shorter after a compression that succeeded', async () => {
    await due(say(snapshot('short')))
    const before = made.texts()
    await made.command('/compact').catch(() => {})
    const { root, agent } = made
    const target = root.models.resolve(agent.choice.model)
    const { signal } = new AbortController()
    await root.compaction.compact(agent, { trigger: 'pressure', target, signal })
    const after = made.texts()
    expect(after.length).toBeLessThan(before.length)
    expect(after.join('').length).toBeLessThan(before.join('').length)
  })

  it('the history is unchanged after a compression that failed', async () => {
    await due(say(''), say(''))
    const { surface } = await state()
    await expect(made.command('/compact')).rejects.toMatchObject({ code: 'COMPACTION_FAILED' })
    expect(made.session.surface).toBe(surface)
  })

  it('the safe split point does not sever tool pairs', async () => {
    await calls(2, say(snapshot('short')))
    await made.command('/compact')
    expect(toolCallsPaired(made.session.surface.map(({ message }) => message))).toBe(true)
    expect(made.session.surface.filter(({ message }) => message.role === 'tool')).toEqual([])
  })

  it('the usage of a compression triggers no loop', async () => {
    await due(saying(snapshot(), 50_000), saying('three', 100), saying('four', 100))
    await made.turn('three')
    await made.turn('four')
    expect(made.requests).toHaveLength(5)
  })
})

describe('5.5 to 5.7: compaction', () => {
  it('pruning comes first, and where that is enough no summary is made', async () => {
    await calls(5)
    const types = (await made.facts()).map(({ type }) => type)
    expect(types).toContain('compaction/prune')
    expect(types).not.toContain('compaction/summary')
    expect(made.requests).toHaveLength(3)
  })

  it('and where it is not, a summary follows, whose failure takes no pruning back', async () => {
    await calls(5, say('no summary'), say('no summary'))
    await expect(made.command('/compact')).rejects.toMatchObject({ code: 'COMPACTION_FAILED' })
    const facts = await made.facts()
    const pruned = facts.filter(compactionPrune.is).flatMap(({ data }) => data.replaced)
    const cut = made.session.surface.filter(({ message }) => {
      return message.role === 'tool' && JSON.stringify(message).includes('harness-note')
    })
    expect(pruned).toHaveLength(5)
    expect(cut).toHaveLength(5)
    expect(await made.ends()).toContainEqual(expect.stringContaining('(summary_malformed)'))
  })

  it('the original log is not deleted: the summary only shadows the old messages', async () => {
    await due(say(snapshot()), say('three'))
    const before = await made.facts()
    await made.turn('three')
    expect((await made.facts()).slice(0, before.length)).toEqual(before)
    expect(made.texts()).not.toContain('one')
  })

  it('T = floor(min(W x 0.8, W - O - B)), B = 65,536, and 16 % of W - O are kept', () => {
    const config = compactionConfig.parse({})
    expect(config.headroomTokens).toBe(65_536)
    const budget = budgetOf({ contextWindow: 200_000, maxTokens: 64_000 }, {}, config)
    expect(budget).toMatchObject({ threshold: 70_464, keepTokens: Math.floor(136_000 * 0.16) })
  })

  it('it is not always at 80 %: what is reserved makes it earlier', () => {
    const config = compactionConfig.parse({})
    const of = (maxTokens: number) =>
      budgetOf({ contextWindow: 200_000, maxTokens }, {}, config).threshold
    expect([of(1_000), of(64_000)].map((tokens) => tokens / 200_000)).toEqual([0.66732, 0.35232])
  })

  it('W - O - B <= 0 is no budget: the headroom gives way', () => {
    const budget = budgetOf(
      { contextWindow: 32_000, maxTokens: 8_000 },
      {},
      compactionConfig.parse({}),
    )
    expect(budget).toMatchObject({ threshold: 21_952, headroomTokens: 2_048 })
  })
})

describe('5.9: a summary', () => {
  it('"many plans were discussed, we go on with that" is too weak', async () => {
    const weak = 'Many plans were discussed, and next we go on with that.'
    await due(say(weak), say('three'))
    await made.turn('three')
    expect(await made.ends()).toEqual([expect.stringContaining('(summary_malformed)')])
  })

  it('that reaches the output cap has failed, and is no checkpoint in silence', async () => {
    await due(
      [
        { type: 'text', text: snapshot() },
        { type: 'finish', reason: 'max-tokens' },
      ],
      say('three'),
    )
    await made.turn('three')
    expect(await made.ends()).toEqual([expect.stringContaining('(summary_cut)')])
  })

  it('has parameters of its own: the main model without reasoning says nothing of them', async () => {
    await due(say(snapshot()), say('three'))
    made.agent.choice = { model: 'test/model', params: { effort: 'high' } }
    await made.turn('three')
    expect(made.requests[2]?.params).toEqual({ maxTokens: 1_000 })
  })
})

describe('5.10 and 5.11: cache and cost', () => {
  it('the same beginning with new messages after it is what a cache can use again', async () => {
    await due(say(snapshot()), say('three'))
    await made.turn('three')
    const [, before, asked] = made.requests
    expect(asked?.messages.slice(0, -1)).toEqual(before?.messages.slice(0, 2))
    expect(textOf(made.requests[3]!.messages[0]!.message)).toContain('<state_snapshot>')
  })

  it('an estimate and a pruning call no model', async () => {
    await calls(2)
    const asked = made.requests.length
    const { root, agent } = made
    const target = root.models.resolve(agent.choice.model)
    const { signal } = new AbortController()
    root.meter.measure({ session: made.session, target, params: {} })
    const report = await root.compaction.compact(agent, { trigger: 'model-switch', target, signal })
    expect(report.result.outcome).toBe('skipped')
    expect(made.requests).toHaveLength(asked)
  })

  it('a summary is an extra call, and the step after it is a call like any other', async () => {
    await due(saying(snapshot(), 300), saying('three', 40))
    const before = made.agent.account.totals.usage.inputTokens
    await made.turn('three')
    expect(made.agent.account.totals.usage.inputTokens - before).toBe(340)
    expect(made.session.state(assistantMessage)?.usage.inputTokens).toBe(40)
  })
})
