import type { Agent, Loop, TurnControl, TurnOutcome } from '../agent/index.ts'
import type { PluginContext } from '../kernel/index.ts'
import { ledgerError, type Account } from '../ledger/index.ts'
import type { Clock } from '../store/index.ts'
import { createSeenFiles, turnClock } from '../tool/index.ts'
import type { LoopConfig } from './config.ts'
import { RequestMaker } from './request.ts'
import type { TurnRun } from './run.ts'
import { SurfaceIndex } from './surface-index.ts'
import { runTurn } from './turn.ts'

/** What is kept of an agent from turn to turn, besides its log. */
type Memory = Pick<TurnRun, 'seen' | 'requests' | 'index'>

/** The standard loop: peek, enter, answer, act, until the model has nothing more to do. */
export function createLoop(
  ctx: PluginContext<'models' | 'tools' | 'prompt'>,
  config: LoopConfig,
  clock: Clock = turnClock,
): Loop {
  const memories = new WeakMap<Agent, Memory>()
  const { models, tools, prompt } = ctx
  const services = { models, tools, prompt }

  const memoryOf = (agent: Agent): Memory => {
    const known = memories.get(agent)
    if (known) return known
    const memory = {
      seen: createSeenFiles(),
      requests: new RequestMaker(),
      index: new SurfaceIndex(),
    }
    memories.set(agent, memory)
    return memory
  }

  return {
    async runTurn(agent: Agent, control: TurnControl): Promise<TurnOutcome> {
      const deadline = watchDeadline(agent.account, clock)
      const signal = AbortSignal.any([control.signal, deadline.signal])
      const endingSince = watchAbort(signal, clock)
      let takeTime: (() => void) | undefined
      const hurry = () => void (takeTime = agent.session.hurry(config.cancelGraceMs))
      if (signal.aborted) hurry()
      else signal.addEventListener('abort', hurry, { once: true })
      try {
        return await runTurn({
          ctx,
          services,
          config,
          clock,
          agent,
          ...memoryOf(agent),
          waiting: control.waiting,
          notes: [],
          standIns: new Map(),
          turn: agent.session.turn.turn + 1,
          signal,
          endingSince,
        })
      } finally {
        deadline.stop()
        signal.removeEventListener('abort', hurry)
        takeTime?.()
      }
    },
  }
}

/** Says when `signal` aborted. */
function watchAbort(signal: AbortSignal, clock: Clock): () => number | undefined {
  let at = signal.aborted ? clock.now() : undefined
  signal.addEventListener('abort', () => void (at = clock.now()), { once: true })
  return () => at
}

/** A signal that aborts at the earliest deadline of an account and those above it. */
function watchDeadline(account: Account, clock: Clock): { signal: AbortSignal; stop: () => void } {
  const deadlines: number[] = []
  for (let at: Account | undefined = account; at; at = at.parent) {
    if (at.limits.deadline !== undefined) deadlines.push(at.limits.deadline)
  }
  const abort = new AbortController()
  if (deadlines.length === 0) return { signal: abort.signal, stop: () => {} }
  let stopTimer: (() => void) | undefined
  const watch = () => {
    const leftMs = Math.min(...deadlines) - clock.now()
    if (leftMs > 0) stopTimer = clock.after(leftMs, watch)
    else abort.abort(ledgerError('BUDGET_EXCEEDED', { limit: 'deadline' }))
  }
  watch()
  return { signal: abort.signal, stop: () => stopTimer?.() }
}
