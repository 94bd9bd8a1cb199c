import {
  computeSafeSplitIndex,
  safeSplitBefore,
  type AgentState,
  type CompressContext,
  type CompressResult,
  type ContextCompressor,
} from '@cordage/core/compaction'
import type { Message } from '@cordage/core/message'
import { estimateMessage, estimateTool, type Models, type ResolvedModel } from '@cordage/core/model'
import {
  compactionSummary,
  type PinnedFact,
  type Session,
  type SurfaceEntry,
} from '@cordage/core/session'
import { budgetOf, type Budget } from './budget.ts'
import type { Bill } from './ask.ts'
import type { CompactionConfig } from './config.ts'
import { createPauses } from './pauses.ts'
import { pinnedOf } from './pinned.ts'
import { summarise } from './summarise.ts'
import { carries, snapshotWithoutModel, summaryMessage } from './words.ts'

const READER = 'retrieve_memory'

/** Sums the older part of a history up by a model, and without one where it has to. */
export function createCompressor(models: Models, config: CompactionConfig): ContextCompressor {
  const pauses = createPauses(config)

  return {
    async compress(state, context) {
      const { agent, signal, target } = context
      const { session } = agent
      const budget = budgetOf(target.info, agent.choice.params, config)
      const due = isDue(state, context, budget, config)
      if (due) return skipped(due)
      const entries = session.surface.filter(({ message }) => message.role !== 'system')
      const split = splitOf(state, context, budget, config)
      if (split < 0) return skipped('no_safe_split')
      if (split < config.minMessagesToSummarize) return skipped('too_few_messages')
      const older = entries.slice(0, split)
      const pinned = pinnedOf(await carriedBy(session, older), older, config.maxPinnedTokens)
      const floor = floorOf(session, context, pinned)
      const contributors = floor.filter(({ tokens }) => tokens > 0)
      if (context.trigger === 'pressure' && sum(floor) >= budget.threshold) {
        return { ...skipped('irreducible_floor'), details: { contributors } }
      }

      const must =
        context.trigger === 'overflow' || (context.pressure?.projectedTokens ?? 0) > budget.room
      const bill: Bill = { usage: undefined, costUsd: undefined }
      const model = summaryModel(models, target)
      const paused = pauses.isPaused(session.id)
      if (paused && !must) return skipped('summariser_paused')
      const answered = paused
        ? { reason: 'summariser_paused' }
        : await summarise(
            { session, scope: agent.scope, model, entries: older, signal },
            config,
            bill,
          )
      const { provider } = model
      const costUsd = bill.costUsd === undefined ? {} : { costUsd: bill.costUsd }
      if (bill.usage) context.onUsage(bill.usage, { provider, model: model.model, ...costUsd })
      if (!paused) pauses.note(session.id, answered.reason === undefined)
      if (answered.reason !== undefined && !must) return failed(answered.reason)

      const episodeId = context.idGenerator()
      const snapshot = answered.snapshot ?? snapshotWithoutModel(pinned, older)
      const reader = session.requestHeader?.tools.some(({ name }) => name === READER)
      const told = { episodeId, snapshot, pinned, messages: older.length }
      const message = summaryMessage({ ...told, ...(reader ? { reader: READER } : {}) })
      if (!carries(message, pinned)) return failed('pinned_fact_lost')
      const covers = coveredBy(older)
      state.history.messages = [message, ...state.history.messages.slice(split)]
      state.history.episodicMemories = [
        ...state.history.episodicMemories,
        { id: episodeId, covers, summary: snapshot, pinned },
      ]
      return { outcome: 'compressed', episodeId }
    },
  }
}

/** Why it is not time; only pressure asks. */
function isDue(
  { usages, history }: AgentState,
  { trigger, pressure }: CompressContext,
  { threshold }: Budget,
  config: CompactionConfig,
): string | undefined {
  if (trigger === 'manual' || trigger === 'overflow') return undefined
  const last = usages.at(-1)
  if (config.trigger === 'window') {
    if (!pressure) return 'no_usage'
    if (pressure.projectedTokens < threshold) return 'below_threshold'
    return last?.source && trigger === 'pressure' ? 'last_usage_is_compression' : undefined
  }
  if (!last) return 'no_usage'
  if (history.messages.length <= config.keepRecentMessageCount) return 'history_too_short'
  if (last.promptTokens < config.totalTokenThreshold) return 'below_threshold'
  return last.source ? 'last_usage_is_compression' : undefined
}

/** How many messages are summed up. */
function splitOf(
  { history: { messages } }: AgentState,
  { trigger, pressure }: CompressContext,
  { keepTokens }: Budget,
  config: CompactionConfig,
): number {
  if (config.trigger === 'messages' && trigger !== 'overflow') {
    return computeSafeSplitIndex(messages, config.keepRecentMessageCount)
  }
  if (trigger === 'manual') {
    const last = messages.findLastIndex(({ source }) => source.kind === 'user')
    return safeSplitBefore(messages, last > 0 ? last : messages.length - 1)
  }
  // A window that is smaller than declared is known by the request that did not fit.
  const projected = pressure?.projectedTokens ?? Infinity
  const keep =
    trigger === 'overflow' ? Math.min(keepTokens, projected * config.keepShare) : keepTokens
  return safeSplitBefore(messages, messages.length - Math.max(1, tailWithin(messages, keep)))
}

/** How many of the last messages fit. */
function tailWithin(messages: readonly Message[], tokens: number): number {
  let left = tokens
  let count = 0
  for (const message of messages.toReversed()) {
    left -= estimateMessage(message)
    if (left < 0) break
    count += 1
  }
  return count
}

/** What no summary makes smaller, and whose it is. */
function floorOf(session: Session, { pending }: CompressContext, pinned: readonly PinnedFact[]) {
  const systems = session.surface
    .map(({ message }) => message)
    .filter(({ role }) => role === 'system')
  const tools = session.requestHeader?.tools ?? []
  return [
    { part: 'system', tokens: tokensOf(systems) },
    { part: 'tools', tokens: tools.reduce((total, tool) => total + estimateTool(tool), 0) },
    { part: 'pending input', tokens: tokensOf(pending) },
    {
      part: 'pinned facts',
      tokens: Math.ceil(pinned.reduce((n, { text }) => n + text.length, 0) / 3),
    },
  ]
}

function tokensOf(messages: readonly Message[]): number {
  return messages.reduce((total, message) => total + estimateMessage(message), 0)
}

const sum = (parts: readonly { tokens: number }[]) =>
  parts.reduce((total, { tokens }) => total + tokens, 0)

/** What the summaries among `entries` carry word for word. */
async function carriedBy(
  session: Session,
  entries: readonly SurfaceEntry[],
): Promise<readonly PinnedFact[]> {
  const known = new Set(session.state(compactionSummary).map(({ seq }) => seq))
  const carried: PinnedFact[] = []
  for (const { seq } of entries.filter((entry) => known.has(entry.seq))) {
    for await (const fact of session.read(seq)) {
      if (compactionSummary.is(fact)) carried.push(...(fact.data.pinned ?? []))
      break
    }
  }
  return carried
}

/** The facts of what was said, earlier summaries aside: they have episodes of their own. */
function coveredBy(entries: readonly SurfaceEntry[]): { from: number; to: number } {
  const said = entries.filter(({ message: { source } }) => {
    return source.kind !== 'plugin' || source.form !== 'summary'
  })
  const seqs = (said.length > 0 ? said : entries).map(({ seq }) => seq)
  return { from: Math.min(...seqs), to: Math.max(...seqs) }
}

/** The model of the role, where somebody gave it one; else the one the request is for. */
function summaryModel(models: Models, target: ResolvedModel): ResolvedModel {
  if (models.chain('summary').length === 0) return target
  return models.default('summary') ?? target
}

function skipped(reason: string): CompressResult {
  return { outcome: 'skipped', reason }
}

function failed(reason: string): CompressResult {
  return { outcome: 'failed', reason }
}
