import type { AgentState, CompressContext, CompressResult } from '@cordage/core/compaction'
import { isHarnessError } from '@cordage/core/error'
import type { Account } from '@cordage/core/ledger'
import type { Message } from '@cordage/core/message'
import { parseModelName, type Models, type ResolvedModel } from '@cordage/core/model'
import type { PinnedFact, Session, SurfaceEntry } from '@cordage/core/session'
import type { Answered, Bill } from './ask.ts'
import type { Budget } from './budget.ts'
import type { CompactionConfig } from './config.ts'
import { carriedBy, coveredBy } from './earlier.ts'
import type { Pauses } from './pauses.ts'
import { pinnedOf } from './pinned.ts'
import { tokensOf } from './split.ts'
import { summarise } from './summarise.ts'
import { carries, snapshotWithoutModel, summaryMessage } from './words.ts'

const READER = 'retrieve_memory'
/** Of what a history may take: the rest is for what was said last. */
const MAX_PINNED_SHARE = 0.25

/** What a summary is to stand for. */
interface Older {
  readonly entries: readonly SurfaceEntry[]
  readonly pinned: readonly PinnedFact[]
  readonly episodeId: string
  /** No message stands after them. */
  readonly isLast: boolean
}

/** The older part up to `split`, and what of it no summary may lose. */
export async function olderOf(
  split: number,
  { agent: { session }, pending, pins, idGenerator }: CompressContext,
  budget: Budget,
  config: CompactionConfig,
): Promise<Older> {
  const all = session.surface.filter(({ message }) => message.role !== 'system')
  const entries = all.slice(0, split)
  const later = [...all.slice(split).map(({ message }) => message), ...pending]
  const episodeId = idGenerator()
  const pinned = pinnedOf({
    earlier: await carriedBy(session, entries),
    entries,
    asksLater: later.some(({ source }) => source.kind === 'user'),
    contributed: await pins(),
    maxTokens: Math.min(config.maxPinnedTokens, Math.floor(budget.threshold * MAX_PINNED_SHARE)),
    episodeId,
  })
  return { entries, pinned, episodeId, isLast: later.length === 0 }
}

/** A snapshot by a model, unless it would be no shorter than what it stands for. */
export async function askModel(
  older: Older,
  { agent: { session, scope, account }, target, signal, onUsage }: CompressContext,
  { models, config, pauses }: { models: Models; config: CompactionConfig; pauses: Pauses },
): Promise<Answered> {
  if (pauses.isPaused(session.id)) return { reason: 'summariser_paused' }
  if (isUsedUp(account)) return { reason: 'BUDGET_EXCEEDED' }
  const model = summaryModel(models, target)
  const bill: Bill = { usage: undefined, costUsd: undefined }
  const source = { session, scope, model, entries: older.entries, signal }
  let answered: Answered = { reason: 'no_progress' }
  try {
    if (isShorter(older, session, '')) answered = await summarise(source, config, bill)
  } finally {
    const { usage, costUsd } = bill
    const on = { provider: model.provider, model: model.model }
    if (usage) onUsage(usage, costUsd === undefined ? on : { ...on, costUsd })
  }
  if (answered.snapshot !== undefined && !isShorter(older, session, answered.snapshot)) {
    answered = { reason: 'no_progress' }
  }
  pauses.note(session.id, answered.reason === undefined)
  return answered
}

/** Whether nothing may be spent on a summary. */
function isUsedUp(account: Account): boolean {
  try {
    account.reserve('side-call')
    return false
  } catch (error) {
    if (isHarnessError(error, 'BUDGET_EXCEEDED')) return true
    throw error
  }
}

/** Changes the draft. Without a snapshot there is one of what is known without a model. */
export function replace(
  { history }: AgentState,
  { agent: { session } }: CompressContext,
  older: Older,
  snapshot = snapshotWithoutModel(older.pinned, older.entries),
): CompressResult {
  const { entries, pinned, episodeId } = older
  const message = messageOf(older, session, snapshot)
  if (!carries(message, pinned)) return { outcome: 'failed', reason: 'pinned_fact_lost' }
  history.messages = [message, ...history.messages.slice(entries.length)]
  history.episodicMemories = [
    ...history.episodicMemories,
    { id: episodeId, covers: coveredBy(entries), summary: snapshot, pinned },
  ]
  return { outcome: 'compressed', episodeId }
}

function isShorter(older: Older, session: Session, snapshot: string): boolean {
  const said = older.entries.map(({ message }) => message)
  return tokensOf([messageOf(older, session, snapshot)]) < tokensOf(said)
}

function messageOf({ entries, ...older }: Older, session: Session, snapshot: string): Message {
  const reader = session.requestHeader?.tools.some(({ name }) => name === READER)
  const told = { ...older, snapshot, messages: entries.length }
  return summaryMessage({ ...told, ...(reader ? { reader: READER } : {}) })
}

/**
 * The first of the role `summary`, with those of `main` behind them, that can be asked; else, and
 * where nobody has the role, the one the request is for.
 */
function summaryModel(models: Models, target: ResolvedModel): ResolvedModel {
  const own = models.chain('summary')
  if (own.length === 0) return target
  const known = new Set(models.providers().map(({ id }) => id))
  const usable = [...own, ...models.chain('main')]
    .filter((name) => known.has(parseModelName(name).provider))
    .map((name) => models.resolve(name))
    .find(({ route }) => route.available() || route.scripted)
  return usable ?? target
}
