import assert from 'node:assert'
import { afterEach, describe, expect, it } from 'vitest'
import compactionRow, {
  type AgentState,
  type CompressContext,
  type CompressResult,
  type ContextCompressor,
  type HistoryPruner,
} from '@cordage/core/compaction'
import { definePlugin } from '@cordage/core/kernel'
import { textMessage, textOf, type Message } from '@cordage/core/message'
import {
  compactionEnd,
  compactionSummary,
  type Fact,
  type SurfaceEntry,
} from '@cordage/core/session'
import { bench, call, say, type Bench, type Reply } from '../loop/boot.ts'

type Compress = (
  state: AgentState,
  context: CompressContext,
) => CompressResult | Promise<CompressResult>

let made: Bench
afterEach(() => made.close())

const usage = { inputTokens: 70, outputTokens: 7 }
const LONG = 'the older part of this history is long '.repeat(20)

/** Replaces all but the last `keep` messages, as a compressor that works does. */
function shorten(keep = 1): Compress {
  return ({ history }, { idGenerator, onUsage }) => {
    const id = idGenerator()
    const kept = history.messages.slice(history.messages.length - keep)
    history.messages = [summary(id), ...kept]
    history.episodicMemories = [
      ...history.episodicMemories,
      { id, covers: { from: 0, to: 1 }, summary: 'short', pinned: [] },
    ]
    onUsage(usage, { provider: 'test', model: 'small', costUsd: 0.5 })
    return { outcome: 'compressed', episodeId: id, usage: { inputTokens: 1, outputTokens: 1 } }
  }
}

function summary(id: string, text = 'In short: it went well.'): Message {
  const source = { kind: 'plugin', row: 'compressor', form: 'summary' } as const
  return textMessage(`summary-${id}`, 'user', text, source)
}

interface Start {
  readonly compress?: Compress
  readonly pruner?: HistoryPruner
  readonly replies?: Reply[]
}

/** A session of two turns, in which only the second asks the compressor. */
async function start({ compress, pruner, replies = [] }: Start): Promise<void> {
  const now: { compress: Compress } = {
    compress: () => ({ outcome: 'skipped', reason: 'not_yet' }),
  }
  const compressor: ContextCompressor = { compress: async (...args) => now.compress(...args) }
  const row = definePlugin({
    name: 'compressor',
    inject: ['compaction'],
    apply(ctx) {
      if (compress) ctx.compaction.compressor(ctx, compressor)
      if (pruner) ctx.compaction.pruner(ctx, pruner)
    },
  })
  made = await bench([say(LONG), say(LONG), ...replies], {
    rows: [{ plugin: compactionRow }, { plugin: row }],
  })
  await turn('one')
  await turn('two')
  if (compress) now.compress = compress
}

async function turn(text: string) {
  await made.agent.send(text, { wake: false })
  return made.agent.wake()
}

function compact(trigger: 'manual' | 'pressure' = 'manual', signal = new AbortController().signal) {
  const { root, agent } = made
  const target = root.models.resolve(agent.choice.model)
  return root.compaction.compact(agent, { trigger, target, signal })
}

const texts = (surface: readonly SurfaceEntry[]) => surface.map(({ message }) => textOf(message))

/** What a compaction may not touch where it comes to nothing. */
async function left(): Promise<{ surface: readonly SurfaceEntry[]; facts: Fact[] }> {
  return { surface: made.session.surface, facts: await made.facts() }
}

describe('a compaction that works', () => {
  it('replaces the older part by one message, and the history is shorter', async () => {
    await start({ compress: shorten() })
    const before = made.session.surface
    const { result } = await compact()
    expect(result.outcome).toBe('compressed')
    expect(texts(made.session.surface)).toEqual(['In short: it went well.', LONG])
    expect(made.session.surface.length).toBeLessThan(before.length)
  })

  it('is in the log as one batch, with its usage once, as it was staged last', async () => {
    await start({ compress: shorten() })
    const { nextSeq } = made.session
    const { result } = await compact()
    const facts = (await made.facts()).slice(nextSeq)
    expect(facts.map(({ type }) => type)).toEqual([
      'compaction/start',
      'compaction/summary',
      'compaction/end',
    ])
    const spent = { usage, provider: 'test', model: 'small', costUsd: 0.5 }
    expect(facts[2]?.data).toEqual({
      id: result.episodeId,
      spent: { ...spent, source: 'context_compression' },
    })
    expect(made.agent.account.totals).toMatchObject({ costUsd: 0.5 })
    expect(made.session.state(compactionSummary)).toMatchObject([{ id: result.episodeId }])
  })

  it('takes the usage of the result where none was staged', async () => {
    await start({
      compress: (state, context) => shorten()(state, { ...context, onUsage: () => {} }),
    })
    await compact()
    const { usage: record } = made.session.state(compactionEnd)
    expect(record?.usage).toEqual({ inputTokens: 1, outputTokens: 1 })
  })

  it('shows the next one that the last usage is of a compaction', async () => {
    const seen: unknown[] = []
    await start({
      compress: (state, context) => {
        seen.push(state.usages)
        return shorten(2)(state, context)
      },
    })
    await compact()
    await compact().catch(() => {})
    const answer = { promptTokens: 10, completionTokens: 2 }
    const own = { promptTokens: 70, completionTokens: 7, source: 'context_compression' }
    expect(seen).toEqual([[answer], [answer, own]])
  })

  it('keeps the originals readable', async () => {
    await start({ compress: shorten() })
    const before = await made.facts()
    await compact()
    expect((await made.facts()).slice(0, before.length)).toEqual(before)
  })
})

describe('a compaction that comes to nothing', () => {
  const cases: Record<string, { reason: string; compress: Compress }> = {
    'has no episode': {
      reason: 'missing_episode_id',
      compress: (state, context) => {
        const { outcome } = shorten()(state, context) as CompressResult
        return { outcome }
      },
    },
    'names an episode that it did not add': {
      reason: 'missing_episode_id',
      compress: (state, context) => ({
        ...(shorten()(state, context) as CompressResult),
        episodeId: 'x',
      }),
    },
    'adds an episode that is none': {
      reason: 'missing_episode_id',
      compress: (state, context) => {
        const result = shorten()(state, context) as CompressResult
        const { episodeId: id } = result
        state.history.episodicMemories = [null, { id }, { id, pinned: [] }] as never
        return result
      },
    },
    'leaves no list of episodes': {
      reason: 'history_invalid',
      compress: (state, context) => {
        const result = shorten()(state, context)
        state.history.episodicMemories = 5 as never
        return result
      },
    },
    'answers nothing': {
      reason: 'result_invalid',
      compress: (state, context) => {
        shorten()(state, context)
        return undefined as never
      },
    },
    'fails after it changed the draft': {
      reason: 'summary_empty',
      compress: (state, context) => {
        shorten()(state, context)
        return { outcome: 'failed', reason: 'summary_empty' }
      },
    },
    'throws after it changed the draft': {
      reason: 'INTERNAL',
      compress: (state, context) => {
        shorten()(state, context)
        throw new TypeError('no')
      },
    },
    'drops messages and says nothing in their place': {
      reason: 'history_invalid',
      compress: (state, context) => {
        const result = shorten()(state, context)
        state.history.messages = state.history.messages.slice(1)
        return result
      },
    },
    'rewrites what somebody said': {
      reason: 'history_invalid',
      compress: (state, context) => {
        const before = state.history.messages
        const result = shorten()(state, context)
        state.history.messages = before.map((message) => ({ ...message }))
        return result
      },
    },
    'changes nothing': {
      reason: 'history_invalid',
      compress: (state, context) => {
        const before = state.history.messages
        const result = shorten()(state, context)
        state.history.messages = before
        return result
      },
    },
    'says more than it replaces': {
      reason: 'no_progress',
      compress: (state, context) => {
        const result = shorten()(state, context)
        const [, ...kept] = state.history.messages
        state.history.messages = [summary('x', LONG.repeat(9)), ...kept]
        return result
      },
    },
  }

  it.each(Object.entries(cases))('%s: it leaves history and usage as they were', async (_, one) => {
    await start({ compress: one.compress })
    const { surface, facts } = await left()
    const usages = made.session.state(compactionEnd)
    const { result } = await compact()
    expect(result).toMatchObject({ outcome: 'failed', reason: one.reason })
    expect(made.session.surface).toBe(surface)
    expect(made.session.state(compactionEnd)).toBe(usages)
    const added = (await made.facts()).slice(facts.length)
    expect(added.map(({ type }) => type)).toEqual(['compaction/start', 'compaction/end'])
    expect(added[1]?.data).toMatchObject({ error: { code: 'COMPACTION_FAILED' } })
  })

  it('has cost what it cost: the ledger counts the money of a failed one', async () => {
    await start({
      compress: (state, context) => {
        shorten()(state, context)
        return { outcome: 'failed', reason: 'summary_empty' }
      },
    })
    const before = made.agent.account.totals.usage.inputTokens
    await compact()
    expect(made.agent.account.totals).toMatchObject({ costUsd: 0.5 })
    expect(made.agent.account.totals.usage.inputTokens - before).toBe(70)
  })

  it('is skipped without a trace in the log', async () => {
    await start({
      compress: (state, context) => {
        shorten()(state, context)
        return { outcome: 'skipped', reason: 'below_threshold' }
      },
    })
    const { surface, facts } = await left()
    expect((await compact()).result).toMatchObject({
      outcome: 'skipped',
      reason: 'below_threshold',
    })
    expect(made.session.surface).toBe(surface)
    expect(await made.facts()).toEqual(facts)
  })

  it('cuts no call from its result', async () => {
    await start({
      compress: shorten(1),
      replies: [call({ id: 'a', name: 'nothing', arguments: '{}' }), say('done')],
    })
    await turn('three')
    const { surface } = await left()
    // The last two are the result and the answer after it; the call would go.
    const compress = shorten(2)
    made.root.compaction.compressor(made.agent.scope.ctx, {
      compress: async (...args) => compress(...args),
    })
    expect((await compact()).result.reason).toBe('post_commit_pairing_violation')
    expect(made.session.surface).toBe(surface)
  })
})

describe('a compaction among other things', () => {
  it('is refused while another one runs, when a person asks for it', async () => {
    const gate = Promise.withResolvers<void>()
    await start({
      compress: async (state, context) => {
        await gate.promise
        return shorten()(state, context)
      },
    })
    const first = compact()
    await expect(compact()).rejects.toMatchObject({ code: 'COMPACTION_BUSY' })
    gate.resolve()
    expect((await first).result.outcome).toBe('compressed')
  })

  it('is refused while a turn runs, when a person asks for it', async () => {
    const gate = Promise.withResolvers<void>()
    await start({
      compress: shorten(),
      replies: [
        async function* () {
          await gate.promise
          yield* say('late')
        },
      ],
    })
    await made.agent.send('three', { wake: false })
    const running = made.agent.wake()
    while (!made.session.turn.open) await new Promise(setImmediate)
    await expect(compact()).rejects.toMatchObject({ code: 'COMPACTION_BUSY' })
    gate.resolve()
    await running
  })

  it('holds a turn back that begins meanwhile, whose input then is there exactly once', async () => {
    const gate = Promise.withResolvers<void>()
    const state = { waits: true }
    await start({
      compress: async (draft, context) => {
        if (!state.waits) return { outcome: 'skipped', reason: 'below_threshold' }
        await gate.promise
        return shorten()(draft, context)
      },
      replies: [say('three it is'), say('four it is')],
    })
    const running = compact()
    const ended = turn('three')
    while (!made.session.turn.open) await new Promise(setImmediate)
    await made.agent.steer('four')
    state.waits = false
    gate.resolve()
    expect((await running).result.outcome).toBe('compressed')
    expect(await ended).toMatchObject({ reason: 'completed' })
    expect(texts(made.session.surface)).toEqual([
      'In short: it went well.',
      LONG,
      'three',
      'three it is',
      'four',
      'four it is',
    ])
  })

  it('ends with the turn that waits for it, and what was sent meanwhile is said once', async () => {
    const gate = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<void>()
    const state = { waits: true }
    await start({
      compress: async (draft, context) => {
        if (!state.waits) return { outcome: 'skipped', reason: 'below_threshold' }
        asked.resolve()
        await gate.promise
        return shorten()(draft, context)
      },
      replies: [say('three it is'), say('four it is')],
    })
    const { surface } = await left()
    const ended = turn('three')
    await asked.promise
    await made.agent.steer('four')
    await made.agent.cancel()
    expect(await ended).toMatchObject({ reason: 'aborted' })
    const waiting = () => made.session.inbox.map(({ message }) => textOf(message))
    expect(waiting()).toEqual(['three', 'four'])
    state.waits = false
    gate.resolve()
    await made.root.compaction.settled(made.session.id)
    expect(made.session.surface).toBe(surface)
    expect(await made.agent.wake()).toMatchObject({ reason: 'completed' })
    await made.agent.idle()
    expect(waiting()).toEqual([])
    const said = texts(made.session.surface)
    expect(said.filter((text) => ['three', 'four'].includes(text))).toEqual(['three', 'four'])
  })

  it('that is cancelled changes nothing, though the compressor does not listen', async () => {
    const abort = new AbortController()
    const gate = Promise.withResolvers<void>()
    await start({
      compress: async (state, context) => {
        await gate.promise
        return shorten()(state, context)
      },
    })
    const { surface } = await left()
    const running = compact('manual', abort.signal)
    abort.abort(new Error('stop'))
    gate.resolve()
    await expect(running).rejects.toThrow('stop')
    expect(made.session.surface).toBe(surface)
  })

  it('says so where nothing compacts', async () => {
    await start({})
    await expect(compact()).rejects.toMatchObject({ code: 'COMPACTOR_MISSING' })
  })
})

describe('pruning', () => {
  const cut: HistoryPruner = {
    prune: ({ messages }) =>
      messages
        .filter((message) => message.role === 'tool')
        .map(({ id }) => ({ messageId: id, text: 'cut' })),
  }
  const replies = () => [call({ id: 'a', name: 'nothing', arguments: '{}' }), say('done')]
  const resultText = () =>
    made.session.surface
      .flatMap(({ message }) => message.content)
      .flatMap((part) => (part.type === 'tool-result' ? part.content : []))

  it('stays when the compression after it fails: each is a transaction of its own', async () => {
    await start({
      pruner: cut,
      compress: () => ({ outcome: 'failed', reason: 'summary_empty' }),
      replies: replies(),
    })
    await turn('three')
    const { pruned, result } = await compact()
    expect([pruned, result.outcome]).toEqual([1, 'failed'])
    expect(resultText()).toEqual([{ type: 'text', text: 'cut' }])
  })

  it.each([
    ['throws', () => assert.fail('no')],
    ['gives no list', () => undefined as never],
    ['gives no texts', ({ messages }) => messages.map(({ id }) => ({ messageId: id }) as never)],
  ] satisfies [string, HistoryPruner['prune']][])(
    'of a pruner that %s is none, and the compression goes on',
    async (_, prune) => {
      await start({ pruner: { prune }, compress: shorten(), replies: replies() })
      await turn('three')
      const { pruned, result } = await compact()
      expect([pruned, result.outcome]).toEqual([0, 'compressed'])
    },
  )

  it('replaces results only, whatever a pruner names', async () => {
    const all: HistoryPruner = {
      prune: ({ messages }) => messages.map(({ id }) => ({ messageId: id, text: 'cut' })),
    }
    await start({ pruner: all, replies: replies() })
    await turn('three')
    await compact()
    expect(texts(made.session.surface).filter((text) => text === 'cut')).toEqual([])
    expect(resultText()).toEqual([{ type: 'text', text: 'cut' }])
  })
})
