import { log, type PluginContext } from '../kernel/index.ts'
import { preStep, requestError, type PreStepInput, type RequestErrorInput } from '../loop/index.ts'
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

  preStep.use(
    ctx,
    async (input, next) => {
      if (compaction.isReady(input.agent.scope)) await beforeStep(ctx, compaction, input)
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
      return (await afterOverflow(ctx, compaction, failed)) ? { kind: 'retry', delayMs: 0 } : next()
    },
    { order: AFTER_OVERFLOW },
  )
}

async function beforeStep(
  ctx: PluginContext<never>,
  compaction: Compaction,
  { agent, model, messages, signal }: PreStepInput,
): Promise<void> {
  const last = agent.session.requestHeader
  const switched =
    last !== undefined && (last.provider !== model.provider || last.model !== model.model)
  const trigger = switched ? 'model-switch' : 'pressure'
  const report = await compaction.compact(agent, {
    trigger,
    target: model,
    pending: messages,
    signal,
  })
  warn(ctx, agent.session, report)
  if (switched) refuseTooLarge(report, `${model.provider}/${model.model}`)
}

/** Whether the surface is another one now, so that the request may be sent once more. */
async function afterOverflow(
  ctx: PluginContext<never>,
  compaction: Compaction,
  { agent, model, signal }: RequestErrorInput,
): Promise<boolean> {
  const before = agent.session.surface
  const report = await compaction.compact(agent, { trigger: 'overflow', target: model, signal })
  warn(ctx, agent.session, report)
  return agent.session.surface !== before
}

/** A history that has no room in the new model's window would only fail there. */
function refuseTooLarge({ after, result }: CompactionReport, model: string): void {
  if (!after || result.outcome === 'compressed') return
  const { projectedTokens: tokens, contextWindow, outputTokens } = after
  if (tokens <= contextWindow - outputTokens) return
  const reason = result.reason ?? result.outcome
  throw compactionError('MODEL_SWITCH_COMPACTION_FAILED', { tokens, model, reason })
}

function warn(ctx: PluginContext<never>, { id }: Session, { result }: CompactionReport): void {
  if (result.outcome !== 'failed') return
  log(ctx, 'warn', 'a compaction failed; the history is as it was', {
    session: id,
    reason: result.reason,
  })
}
