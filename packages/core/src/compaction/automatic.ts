import { describe, isHarnessError } from '../error/index.ts'
import { describeFailure, log, type PluginContext } from '../kernel/index.ts'
import { preStep, requestError, type PreStepInput, type RequestErrorInput } from '../loop/index.ts'
import { estimateMessage, type ResolvedModel } from '../model/index.ts'
import type { Session } from '../session/index.ts'
import type { Compaction, CompactionReport } from './compaction.ts'
import { compactionError } from './errors.ts'

/** After the rows that change what enters: what they leave is what is measured. */
const BEFORE_STEP = 1_000
/** Before any policy that would send the same request again. */
const AFTER_OVERFLOW = -1_000

/** Compacts before steps under pressure, and once in a step that a provider finds too large. */
export function compactAutomatically(ctx: PluginContext<never>, compaction: Compaction): void {
  /** The step that was compacted after an overflow. */
  const overflowed = new WeakMap<Session, string>()
  const tell = createTell(ctx)

  preStep.use(
    ctx,
    async (input, next) => {
      if (compaction.isReady(input.agent.scope)) await beforeStep(ctx, compaction, input, tell)
      return next()
    },
    { order: BEFORE_STEP },
  )

  requestError.use(
    ctx,
    async (failed, next) => {
      const { agent, turn, step, error } = failed
      const { session } = agent
      const place = `${turn}/${step}`
      const due = error.code === 'CONTEXT_WINDOW_EXCEEDED' && overflowed.get(session) !== place
      if (!due || !compaction.isReady(agent.scope)) return next()
      overflowed.set(session, place)
      return (await afterOverflow(compaction, failed, tell))
        ? { kind: 'retry', delayMs: 0 }
        : next()
    },
    { order: AFTER_OVERFLOW },
  )
}

async function beforeStep(
  ctx: PluginContext<never>,
  compaction: Compaction,
  input: PreStepInput,
  tell: Tell,
): Promise<void> {
  const { agent, model, messages, signal } = input
  const last = agent.session.requestHeader
  const switched =
    last !== undefined && (last.provider !== model.provider || last.model !== model.model)
  const request = { target: model, pending: messages, signal }
  if (!switched) {
    return tell(agent.session, await compaction.compact(agent, { ...request, trigger: 'pressure' }))
  }
  try {
    const report = await compaction.compact(agent, { ...request, trigger: 'model-switch' })
    tell(agent.session, report)
    refuseTooLarge(report, input)
  } catch (error) {
    if (signal.aborted || isHarnessError(error, 'MODEL_SWITCH_COMPACTION_FAILED')) throw error
    log(ctx, 'error', 'a history cannot be checked for another model', {
      session: agent.session.id,
      error: describeFailure(error),
    })
    const what = 'It is unknown whether the history has room'
    throw switchFailed(model, what, describe(error).code)
  }
}

/** Whether the surface is another one now, so that the request may be sent once more. */
async function afterOverflow(
  compaction: Compaction,
  { agent, model, signal }: RequestErrorInput,
  tell: Tell,
): Promise<boolean> {
  const before = agent.session.surface
  const report = await compaction.compact(agent, { trigger: 'overflow', target: model, signal })
  tell(agent.session, report)
  return agent.session.surface !== before
}

/** A history without room in the new model's window fails there, whatever is asked now. */
function refuseTooLarge({ after, result }: CompactionReport, { model, messages }: PreStepInput) {
  if (!after || result.outcome === 'compressed') return
  const { projectedTokens, contextWindow, outputTokens } = after
  const pending = messages.reduce((sum, message) => sum + estimateMessage(message), 0)
  const tokens = projectedTokens - pending
  if (tokens <= contextWindow - outputTokens) return
  const what = `The history of ${tokens} tokens has no room`
  throw switchFailed(model, what, result.reason ?? result.outcome)
}

function switchFailed({ provider, model }: ResolvedModel, what: string, reason: string) {
  const name = `${provider}/${model}`
  return compactionError('MODEL_SWITCH_COMPACTION_FAILED', { what, model: name, reason })
}

type Tell = (session: Session, report: CompactionReport) => void

/** Warns of what failed, and once of a request that no compaction makes small enough. */
function createTell(ctx: PluginContext<never>): Tell {
  const floors = new WeakMap<Session, string>()
  return (session, { result }) => {
    const { outcome, reason, details } = result
    if (outcome === 'failed') {
      const fields = { session: session.id, reason }
      log(ctx, 'warn', 'a compaction failed; the history is as it was', fields)
    }
    if (reason !== 'irreducible_floor') return
    const floor = JSON.stringify(details)
    if (floors.get(session) === floor) return
    floors.set(session, floor)
    const fields = { session: session.id, ...details }
    log(ctx, 'warn', 'what no compaction makes smaller takes the window of the model', fields)
  }
}
