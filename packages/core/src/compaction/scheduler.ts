import { describe } from '../error/index.ts'
import { createRegistry, describeFailure, log, type Context, type Scope } from '../kernel/index.ts'
import { newId, type Message, type Usage } from '../message/index.ts'
import { estimateMessage } from '../model/index.ts'
import {
  compactionEnd,
  compactionPrune,
  compactionStart,
  compactionSummary,
  pinnedFactSchema,
  type CompactionSpent,
  type Session,
  type SurfaceEntry,
} from '../session/index.ts'
import { handleIn } from '../tool/index.ts'
import type { Compaction, CompactionReport, CompactionRequest } from './compaction.ts'
import type {
  AgentState,
  CompactedAgent,
  CompressContext,
  CompressResult,
  ContextCompressor,
  EpisodicMemory,
  History,
  HistoryPruner,
  SpentOn,
} from './compressor.ts'
import { settle, turnClock } from '../tool/index.ts'
import { readDraft, type Replacement } from './draft.ts'
import { compactionError } from './errors.ts'
import type { Pressure } from './meter.ts'
import { askPinners, type PinContributor, type Pins } from './pins.ts'
import { repeat, repeatable } from './repeated.ts'
import { usagesOf } from './usages.ts'

const ONLY = 'compaction'
/** How long a compressor that was told to end may take to. */
const GRACE_MS = 5_000

/** The scheduler behind `ctx.compaction`; a meter may come and go. */
export function createCompaction(ctx: Context): Compaction {
  const pruners = createRegistry<HistoryPruner>('history pruner')
  const compressors = createRegistry<ContextCompressor>('context compressor')
  const pinners = createRegistry<PinContributor>('pinned facts')
  const running = new Map<string, Promise<unknown>>()

  const settled = async (sessionId: string): Promise<void> => {
    await running.get(sessionId)?.catch(() => {})
  }

  const of = (scope: Scope) => ({
    compressor: compressors.get(ONLY, scope)?.value,
    pruner: pruners.get(ONLY, scope)?.value,
  })
  const pinsOf = (agent: CompactedAgent) => askPinners(ctx, pinners.listOwn(agent.scope), agent)

  return {
    isReady: (scope) => Object.values(of(scope)).some((part) => part !== undefined),
    pruner: (owner, pruner) => void pruners.add(owner, ONLY, pruner),
    compressor: (owner, compressor) => void compressors.add(owner, ONLY, compressor),
    pin: (owner, contributor) => void pinners.add(owner, contributor.id, contributor),
    settled,
    async compact(agent, request) {
      const { id, turn } = agent.session
      const { compressor, pruner } = of(agent.scope)
      if (!compressor && !pruner) throw compactionError('COMPACTOR_MISSING')
      if (request.trigger === 'manual') {
        if (turn.open) throw compactionError('COMPACTION_BUSY', { what: 'a turn runs' })
        if (running.has(id)) {
          throw compactionError('COMPACTION_BUSY', { what: 'another compaction runs' })
        }
      }
      while (running.has(id)) await settled(id)
      const task = new Run(ctx, agent, request, pinsOf).run(pruner, compressor)
      running.set(id, task)
      try {
        return await task
      } finally {
        running.delete(id)
      }
    },
  }
}

type PinsOf = (agent: CompactedAgent) => Promise<Pins>

/** One request to compact, from the first look to the last commit. */
class Run {
  readonly #ctx: Context
  readonly #agent: CompactedAgent
  readonly #session: Session
  readonly #request: CompactionRequest
  readonly #pinsOf: PinsOf

  constructor(ctx: Context, agent: CompactedAgent, request: CompactionRequest, pinsOf: PinsOf) {
    this.#ctx = ctx
    this.#agent = agent
    this.#session = agent.session
    this.#request = request
    this.#pinsOf = pinsOf
  }

  async run(
    pruner: HistoryPruner | undefined,
    compressor: ContextCompressor | undefined,
  ): Promise<CompactionReport> {
    this.#request.signal.throwIfAborted()
    const before = this.#measure()
    const pruned = pruner ? await this.#prune(pruner, before) : 0
    const left = pruned > 0 ? this.#measure() : before
    const result: CompressResult = compressor
      ? await this.#compress(compressor, left)
      : { outcome: 'skipped', reason: 'no_compressor' }
    const after = result.outcome === 'compressed' ? this.#measure() : left
    return { pruned, result, before, after }
  }

  #measure(): Pressure | undefined {
    const { target, pending = [] } = this.#request
    const { params } = this.#agent.choice
    return this.#ctx.get('meter')?.measure({ session: this.#session, target, params, pending })
  }

  #context(pressure: Pressure | undefined) {
    const { trigger, target, pending = [], signal } = this.#request
    return { trigger, target, pending, signal, pressure, agent: this.#agent }
  }

  async #prune(pruner: HistoryPruner, pressure: Pressure | undefined): Promise<number> {
    const { surface } = this.#session
    const texts = this.#cuts(pruner, pressure)
    if (texts.size === 0) return 0
    const replaced = conversation(surface)
      .filter(({ message }) => message.role === 'tool' && texts.has(message.id))
      .map(({ seq, message }) => {
        const text = texts.get(message.id) as string
        const handle = handleIn(text)
        return { seq, text, ...(handle === undefined ? {} : { handle }) }
      })
    if (replaced.length === 0) return 0
    const id = newId()
    const { trigger } = this.#request
    await this.#session.append([
      compactionStart({ id, trigger }),
      compactionPrune({ id, replaced }),
      compactionEnd({ id }),
    ])
    return replaced.length
  }

  /** What the model is to see of results, by message. A pruner that throws has cut nothing. */
  #cuts(pruner: HistoryPruner, pressure: Pressure | undefined): ReadonlyMap<string, string> {
    try {
      const cuts = pruner.prune(new Draft(this.#session.surface), this.#context(pressure))
      const whole = cuts.filter(({ text }) => typeof text === 'string')
      return new Map(whole.map(({ messageId, text }) => [messageId, text]))
    } catch (error) {
      const fields = { session: this.#session.id, error: describeFailure(error) }
      log(this.#ctx, 'error', 'old tool results cannot be cut', fields)
      return new Map()
    }
  }

  async #compress(
    compressor: ContextCompressor,
    pressure: Pressure | undefined,
  ): Promise<CompressResult> {
    const before = this.#session.surface
    const state = { history: new Draft(before), usages: usagesOf(this.#session) }
    const staged: { usage?: Usage; on?: SpentOn } = {}
    const context: CompressContext = {
      ...this.#context(pressure),
      pins: () => this.#pinsOf(this.#agent),
      idGenerator: episodeIds(this.#session),
      onUsage: (usage, on) => Object.assign(staged, { usage, on }),
    }
    const result = await this.#ask(compressor, state, context)
    const usage = staged.usage ?? result.usage
    // Paid for is paid for, whatever became of it.
    if (usage) this.#agent.account.settle(usage, staged.on?.costUsd)
    const spent = usage
      ? { usage, ...staged.on, source: 'context_compression' as const }
      : undefined
    if (result.outcome === 'skipped') return result
    const change = result.outcome === 'compressed' ? this.#read(state, result, before) : result
    if ('outcome' in change) {
      await this.#logFailure(change, spent)
      this.#request.signal.throwIfAborted()
      return change
    }
    await this.#commit(change, spent)
    return result
  }

  async #ask(
    compressor: ContextCompressor,
    state: AgentState,
    context: CompressContext,
  ): Promise<CompressResult> {
    const { signal } = this.#request
    const grace = { signal, graceMs: GRACE_MS, clock: turnClock }
    const settled = await settle(() => compressor.compress(state, context), grace)
    if (settled.kind === 'value') {
      return isResult(settled.value) ? settled.value : failed('result_invalid')
    }
    if (settled.kind === 'abandoned' || signal.aborted) return failed('cancelled')
    return failed(describe(settled.error).code)
  }

  /** What to commit, or why nothing is. */
  #read(
    { history }: AgentState,
    { episodeId }: CompressResult,
    before: readonly SurfaceEntry[],
  ): Change | CompressResult {
    const now = this.#session.surface
    const episodes: unknown = history.episodicMemories
    if (!Array.isArray(episodes)) return failed('history_invalid')
    const episode = episodes.filter(isEpisode).find(({ id }) => id === episodeId)
    if (!episodeId || !episode) return failed('missing_episode_id')
    if (this.#request.signal.aborted) return failed('cancelled')
    if (!before.every((entry, at) => entry === now[at])) return failed('history_changed')
    const replacement = readDraft(conversation(before), history.messages)
    if (typeof replacement === 'string') return failed(replacement)
    const repeated =
      this.#request.trigger === 'overflow' ? repeatable(replacement.shadowed, before) : []
    const made = [replacement.message, ...repeated.map(({ message }) => message)]
    const isSmaller = tokensOf(made) < tokensOf(replacement.shadowed.map(({ message }) => message))
    return isSmaller ? { ...replacement, episode, repeated } : failed('no_progress')
  }

  /** One batch: a reader of the log sees the whole compaction or none of it. */
  async #commit(change: Change, spent?: CompactionSpent): Promise<void> {
    const { message, shadowed, episode, repeated } = change
    const { id, covers, pinned } = episode
    const from = shadowed[0].seq
    const to = shadowed.at(-1)?.seq ?? from
    await this.#session.append([
      compactionStart({ id, trigger: this.#request.trigger }),
      compactionSummary({
        id,
        range: { from, to },
        message,
        covers: { ...covers },
        pinned: [...pinned],
      }),
      compactionEnd({ id, ...(spent ? { spent } : {}) }),
      ...repeated.map(repeat),
    ])
  }

  async #logFailure({ reason = 'failed' }: CompressResult, spent?: CompactionSpent): Promise<void> {
    const id = newId()
    const { message } = compactionError('COMPACTION_FAILED', { reason })
    const error = { code: 'COMPACTION_FAILED', message }
    await this.#session.append([
      compactionStart({ id, trigger: this.#request.trigger }),
      compactionEnd({ id, error, ...(spent ? { spent } : {}) }),
    ])
  }
}

/** The system prompt is no part of any history that is compacted. */
function conversation(surface: readonly SurfaceEntry[]): readonly SurfaceEntry[] {
  return surface.filter(({ message }) => message.role !== 'system')
}

/** What a compressor works on. */
class Draft implements History {
  episodicMemories: readonly EpisodicMemory[] = Object.freeze([])
  readonly #surface: readonly SurfaceEntry[]
  #messages: readonly Message[] | undefined

  constructor(surface: readonly SurfaceEntry[]) {
    this.#surface = surface
  }

  get messages(): readonly Message[] {
    return (this.#messages ??= Object.freeze(
      conversation(this.#surface).map(({ message }) => message),
    ))
  }

  set messages(changed: readonly Message[]) {
    this.#messages = changed
  }
}

interface Change extends Replacement {
  readonly episode: EpisodicMemory
  /** Snapshots that the request which is made once more needs as well. */
  readonly repeated: readonly SurfaceEntry[]
}

function tokensOf(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + estimateMessage(message), 0)
}

const OUTCOMES: readonly unknown[] = ['skipped', 'compressed', 'failed']

/** A plugin gave it, whatever its type says. */
function isResult(value: Partial<CompressResult> | undefined): boolean {
  return OUTCOMES.includes(value?.outcome)
}

function isEpisode(value: Partial<EpisodicMemory> | undefined): value is EpisodicMemory {
  const { from, to } = value?.covers ?? {}
  const covers = Number.isInteger(from) && Number.isInteger(to)
  if (!covers || typeof value?.summary !== 'string' || !Array.isArray(value.pinned)) return false
  return value.pinned.every((fact) => pinnedFactSchema.safeParse(fact).success)
}

function failed(reason: string): CompressResult {
  return { outcome: 'failed', reason }
}

/** Numbers, which say in a replay what they said: `e1` for the first summary of a session. */
function episodeIds(session: Session): () => string {
  let last = session.state(compactionSummary).length
  return () => `e${(last += 1)}`
}
