import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import compactionRow, {
  computeSafeSplitIndex,
  toolCallsPaired,
  type AgentState,
  type CompressContext,
  type CompressResult,
  type EpisodicMemory,
  type HistoryPruner,
} from '@cordage/core/compaction'
import { definePlugin } from '@cordage/core/kernel'
import { textMessage, type Message, type Usage } from '@cordage/core/message'
import { estimateMessage } from '@cordage/core/model'
import { compactionEnd, SessionFold, type Fact, type Session } from '@cordage/core/session'
import { bench, type Bench } from '../loop/boot.ts'
import { logOf } from '../session/random-log.ts'

type Compress = (state: AgentState, context: CompressContext) => Promise<CompressResult>

/** What a compressor does with its draft, rightly or not, and what it says of that. */
interface Deed {
  readonly change:
    | 'summary'
    | 'cut'
    | 'twice'
    | 'turned'
    | 'copies'
    | 'nothing'
    | 'empty'
    | 'rubbish'
  readonly at: number
  readonly length: number
  readonly text: string
  readonly says: 'compressed' | 'failed' | 'skipped' | 'throws' | 'rubbish'
  readonly episode: 'own' | 'other' | 'none'
  readonly staged: readonly Usage[]
  readonly usage: Usage | undefined
}

const usages = fc.record({ inputTokens: fc.nat(999), outputTokens: fc.nat(99) })
const deeds: fc.Arbitrary<Deed> = fc.record({
  change: fc.oneof(
    { weight: 6, arbitrary: fc.constant('summary' as const) },
    {
      weight: 4,
      arbitrary: fc.constantFrom(
        ...(['cut', 'twice', 'turned', 'copies', 'nothing', 'empty', 'rubbish'] as const),
      ),
    },
  ),
  at: fc.nat(30),
  length: fc.nat(30),
  text: fc.constantFrom('', 'in short', '简而言之', 'long '.repeat(2_000)),
  says: fc.oneof(
    { weight: 6, arbitrary: fc.constant('compressed' as const) },
    {
      weight: 4,
      arbitrary: fc.constantFrom(...(['failed', 'skipped', 'throws'] as const)),
    },
  ),
  episode: fc.oneof(
    { weight: 4, arbitrary: fc.constant('own' as const) },
    { weight: 1, arbitrary: fc.constantFrom('other' as const, 'none' as const) },
  ),
  staged: fc.array(usages, { maxLength: 2 }),
  usage: fc.option(usages, { nil: undefined }),
})
const histories = fc.array(fc.nat(999), { maxLength: 200, size: 'max' })

let made: Bench
const now: { compress: Compress; prune: HistoryPruner['prune'] } = {
  compress: async () => ({ outcome: 'skipped' }),
  prune: () => [],
}
const row = definePlugin({
  name: 'compressor',
  inject: ['compaction'],
  apply(ctx) {
    ctx.compaction.compressor(ctx, { compress: (...args) => now.compress(...args) })
    ctx.compaction.pruner(ctx, { prune: (...args) => now.prune(...args) })
  },
})
beforeAll(async () => {
  made = await bench([], { rows: [{ plugin: compactionRow }, { plugin: row }] })
})
afterAll(() => made.close())

function act(deed: Deed): Compress {
  return async ({ history }, { idGenerator, onUsage }) => {
    const id = idGenerator()
    const summary = summaryOf(id, deed.text)
    const changed = changedBy(deed, history.messages, summary)
    history.messages = changed as Message[]
    const covers = { from: 0, to: 1 }
    const episode: EpisodicMemory = { id, covers, summary: deed.text, pinned: [] }
    history.episodicMemories = [...history.episodicMemories, episode]
    for (const usage of deed.staged) onUsage(usage)
    if (deed.says === 'throws') throw new TypeError('no')
    if (deed.says === 'rubbish') return undefined as unknown as CompressResult
    const episodeId = { own: { episodeId: id }, other: { episodeId: 'x' }, none: {} }[deed.episode]
    const usage = deed.usage ? { usage: deed.usage } : {}
    return { outcome: deed.says, reason: 'as_it_says', ...episodeId, ...usage }
  }
}

function changedBy({ change, at, length }: Deed, messages: readonly Message[], summary: Message) {
  const from = at % (messages.length + 1)
  const run = messages.slice(from, from + length)
  const [before, after] = [messages.slice(0, from), messages.slice(from + run.length)]
  if (change === 'summary') return [...before, summary, ...after]
  if (change === 'cut') return [...before, ...after]
  if (change === 'twice') return [...before, summary, ...run, ...run, ...after]
  if (change === 'turned') return [...before, summary, ...after.toReversed()]
  if (change === 'copies') return [...before, summary, ...after.map((one) => ({ ...one }))]
  if (change === 'empty') return []
  return change === 'nothing' ? messages : { length: 1 }
}

function summaryOf(id: string, text: string): Message {
  const source = { kind: 'plugin', row: 'compressor', form: 'summary' } as const
  return textMessage(`summary-${id}`, 'user', text, source)
}

async function sessionOf(numbers: readonly number[]): Promise<Session> {
  const session = await made.root.sessions.create({ project: '/project', depth: 0 })
  const facts = logOf(numbers).map(({ seq: _seq, time: _time, ...fact }) => fact)
  if (facts.length > 0) await session.append(facts)
  return session
}

async function withAgent<T>(session: Session, work: (agent: Bench['agent']) => Promise<T>) {
  const agent = await made.root.agents.spawn({
    session,
    choice: { model: 'test/model', params: {} },
    authority: { mode: 'full-access', writableRoots: ['/project'] },
  })
  try {
    return await work(agent)
  } finally {
    await agent.close()
  }
}

function compact(agent: Bench['agent']) {
  const target = made.root.models.resolve('test/model')
  const { signal } = new AbortController()
  return made.root.compaction.compact(agent, { trigger: 'manual', target, signal })
}

async function factsFrom(session: Session, seq: number): Promise<Fact[]> {
  const facts: Fact[] = []
  for await (const fact of session.read(seq)) facts.push(fact)
  return facts
}

const conversation = ({ surface }: Session) =>
  surface.map(({ message }) => message).filter(({ role }) => role !== 'system')

/** The log alone gives the surface, whatever became of it. */
async function checkFold(session: Session): Promise<void> {
  const fold = new SessionFold()
  for (const fact of await factsFrom(session, 0)) fold.add(fact)
  expect(fold.surface).toEqual(session.surface)
  expect(fold.openCompactions).toEqual([])
}

/** One run became one message, and no call lost its result. */
function checkReplaced(before: readonly Message[], after: readonly Message[]): void {
  const at = after.findIndex((message, index) => message !== before[index])
  const rest = after.slice(at + 1)
  expect(after[at]?.source).toMatchObject({ kind: 'plugin', form: 'summary' })
  expect(rest).toEqual(before.slice(before.length - rest.length))
  expect(after.length).toBeLessThanOrEqual(before.length)
  expect(tokensOf(after)).toBeLessThan(tokensOf(before))
  if (toolCallsPaired(before)) expect(toolCallsPaired(after)).toBe(true)
}

describe('over random histories', () => {
  it('whatever a compressor does, a run became one shorter message or the history is exactly as it was', async () => {
    await fc.assert(
      fc.asyncProperty(histories, deeds, async (numbers, deed) => {
        const session = await sessionOf(numbers)
        await withAgent(session, async (agent) => {
          const { surface, nextSeq } = session
          const [before, ended] = [conversation(session), session.state(compactionEnd)]
          const paid = agent.account.totals.usage.inputTokens
          now.compress = act(deed)
          now.prune = () => []
          const { result } = await compact(agent)
          const added = await factsFrom(session, nextSeq)
          const types = added.map(({ type }) => type.replace('compaction/', '')).join(' ')
          const reported = ['throws', 'rubbish'].includes(deed.says) ? undefined : deed.usage
          const usage = deed.staged.at(-1) ?? reported
          if (result.outcome === 'compressed') {
            expect(types).toBe('start summary end')
            checkReplaced(before, conversation(session))
            expect(session.state(compactionEnd).usage?.usage).toEqual(usage ?? ended.usage?.usage)
          } else {
            expect(session.surface).toBe(surface)
            expect(session.state(compactionEnd)).toBe(ended)
            expect(types).toBe(result.outcome === 'failed' ? 'start end' : '')
          }
          expect(agent.account.totals.usage.inputTokens - paid).toBe(usage?.inputTokens ?? 0)
          await checkFold(session)
        })
      }),
    )
  })

  it('a cut is taken exactly where both sides are paired and the history becomes smaller', async () => {
    await fc.assert(
      fc.asyncProperty(histories, fc.nat(30), deeds, async (numbers, keep, { text }) => {
        const session = await sessionOf(numbers)
        await withAgent(session, async (agent) => {
          const before = conversation(session)
          const split = computeSafeSplitIndex(before, keep % (before.length + 1))
          for (const length of new Set([split, before.length - keep, Math.floor(split / 2)])) {
            if (length < 1) continue
            const whole = conversation(session)
            const [taken, rest] = [whole.slice(0, length), whole.slice(length)]
            const good = [whole, rest].every(toolCallsPaired)
            const smaller = estimateMessage(summaryOf('e1', text)) < tokensOf(taken)
            now.compress = act({ ...plain, length, text })
            const { result } = await compact(agent)
            const outcome = good && smaller && text !== '' ? 'compressed' : 'failed'
            expect({ length, ...result }).toMatchObject({ outcome })
          }
          await checkFold(session)
        })
      }),
    )
  })

  it('what is pruned stays the result of its call, in its place, and the rest is untouched', async () => {
    await fc.assert(
      fc.asyncProperty(histories, fc.array(fc.boolean()), async (numbers, picks) => {
        const session = await sessionOf(numbers)
        await withAgent(session, async (agent) => {
          const before = conversation(session)
          const results = before.filter(({ role }) => role === 'tool')
          const cut = new Set(results.filter((_, index) => picks[index]).map(({ id }) => id))
          now.compress = async () => ({ outcome: 'failed', reason: 'no' })
          now.prune = () => [...cut, 'nobody'].map((messageId) => ({ messageId, text: 'cut' }))
          const { pruned } = await compact(agent)
          expect(pruned).toBe(results.filter(({ id }) => cut.has(id)).length)
          const after = conversation(session)
          for (const [index, message] of after.entries()) {
            const was = before[index]
            if (!cut.has(message.id)) expect(message).toBe(was)
            else expect(idsOf(message)).toEqual(idsOf(was))
          }
          expect(after).toHaveLength(before.length)
          await checkFold(session)
        })
      }),
    )
  })
})

const plain: Deed = {
  change: 'summary',
  at: 0,
  length: 0,
  text: '',
  says: 'compressed',
  episode: 'own',
  staged: [],
  usage: undefined,
}

const tokensOf = (messages: readonly Message[]) =>
  messages.reduce((sum, message) => sum + estimateMessage(message), 0)

const idsOf = (message: Message | undefined) => [
  message?.id,
  ...(message?.content ?? []).map((part) => part.type === 'tool-result' && part.callId),
]
