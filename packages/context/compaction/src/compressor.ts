import type {
  AgentState,
  CompressContext,
  CompressResult,
  ContextCompressor,
} from '@cordage/core/compaction'
import { isHarnessError } from '@cordage/core/error'
import type { Account } from '@cordage/core/ledger'
import type { Message } from '@cordage/core/message'
import { parseModelName, type Models, type ResolvedModel } from '@cordage/core/model'
import type { PinnedFact, Session, SurfaceEntry } from '@cordage/core/session'
import type { Answered, Bill } from './ask.ts'
import { budgetOf, type Budget } from './budget.ts'
import type { CompactionConfig } from './config.ts'
import { isInevitable, whyNotDue } from './due.ts'
import { carriedBy, coveredBy } from './earlier.ts'
import { createFloors } from './floor.ts'
import { createPauses, type Pauses } from './pauses.ts'
import { pinnedOf } from './pinned.ts'
import { splitOf, tokensOf } from './split.ts'
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

/**
 * Sums the older part of a history up by a model, and without one where it has to. `noteSmall` is
 * told of each model, once, whose window is too small for the headroom.
 */
export function createCompressor(
  models: Models,
  config: CompactionConfig,
  noteSmall: (model: string, budget: Budget) => void,
): ContextCompressor {
  const pauses = createPauses(config)
  const floors = createFloors()
  const noted = new Set<string>()

  const note = ({ provider, model }: ResolvedModel, budget: Budget) => {
    const name = `${provider}/${model}`
    if (budget.headroomTokens >= config.headroomTokens || noted.has(name)) return
    noted.add(name)
    noteSmall(name, budget)
  }

  return {
    async compress(state, context) {
      const { agent, target } = context
      const budget = budgetOf(target.info, agent.choice.params, config)
      note(target, budget)
      const why = whyNotDue(state, context, budget, config)
      if (why) return skipped(why)
      const fixed = floors.check(context, budget)
      if (fixed) return fixed
      const split = splitOf(state, context, budget, config)
      if (split < 0) return skipped('no_safe_split')
      const must = isInevitable(context, budget)
      if (split < config.minMessagesToSummarize && !must) return skipped('too_few_messages')
      const older = await olderOf(split, context, budget, config)
      const floor = floors.check(context, budget, older.pinned)
      if (floor) return floor
      // A person who asks is no loop: that neither waits for the end of a pause nor begins one.
      const own = context.trigger === 'manual' ? createPauses(config) : pauses
      if (own.isPaused(agent.session.id) && !must) return skipped('summariser_paused')
      const { snapshot, reason } = await askModel(older, context, { models, config, pauses: own })
      if (reason !== undefined && !goesOn(reason, context, must))
        return { outcome: 'failed', reason }
      return replace(state, context, older, snapshot)
    },
  }
}

/** Whether a summary without a model is better than none: a step that is refused needs no room. */
function goesOn(reason: string, { trigger }: CompressContext, must: boolean): boolean {
  return must && (reason !== 'BUDGET_EXCEEDED' || trigger === 'overflow')
}

async function olderOf(
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
async function askModel(
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
function replace(
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

function skipped(reason: string): CompressResult {
  return { outcome: 'skipped', reason }
}
