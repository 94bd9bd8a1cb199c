import { describe } from '../error/index.ts'
import { describeFailure, log, type Context } from '../kernel/index.ts'
import type { Agent, AgentStatus, TurnOutcome } from './agent.ts'
import { agentError } from './errors.ts'
import { hasInput } from './inbox.ts'

interface Running {
  readonly abort: AbortController
  readonly outcome: Promise<TurnOutcome>
  waiting: string | undefined
  /** Somebody asked for a turn when this one was told to end, or had ended in the log. */
  again: boolean
  /** The last turn before it. */
  readonly before: number
}

/** Runs the turns of one agent, one at a time. */
export interface Turns {
  status(): AgentStatus
  /** The outcome of the turn that runs or can be started now. Throws `LOOP_MISSING`. */
  wake(): Promise<TurnOutcome> | undefined
  cancel(reason: string): Promise<void>
  idle(): Promise<void>
  /** Cancels and starts no further turn. */
  stop(): Promise<void>
}

/**
 * Idle, or running one turn after the other while turns complete and free input waits. A turn
 * that ends otherwise leaves the rest of the inbox for a person; who sends something after a
 * cancellation is one.
 */
export function createTurns(ctx: Context, agent: () => Agent): Turns {
  let running: Running | undefined
  let stopped = false

  const start = (): Running => {
    const loop = ctx.get('loop')
    if (!loop) throw agentError('LOOP_MISSING')
    const abort = new AbortController()
    const waiting = (what: string | undefined) => void (current.waiting = what)
    // Started a microtask later, so that `current` exists when the loop first uses it.
    const turn = Promise.resolve().then(() =>
      loop.runTurn(agent(), { signal: abort.signal, waiting }),
    )
    const outcome = turn.catch(broken).finally(() => void (running = undefined))
    const before = agent().session.turn.turn
    const current: Running = { abort, waiting: undefined, outcome, again: false, before }
    running = current
    outcome
      .then((ended) => goOn(current, ended))
      .catch((error: unknown) => {
        log(ctx, 'error', 'the next turn was not started', { error: describeFailure(error) })
      })
    return current
  }

  /** A loop never throws; one that does must not take the process with it. */
  const broken = (error: unknown): TurnOutcome => {
    log(ctx, 'error', 'the loop failed', { error: describeFailure(error) })
    return { turn: agent().session.turn.turn, reason: 'error', error: describe(error) }
  }

  const goOn = ({ again }: Running, { reason }: TurnOutcome): void => {
    const wanted = again || reason === 'completed'
    const free = wanted && hasInput(agent().session.inbox)
    if (free && !stopped && !running) start()
  }

  /** Such a turn takes nothing out of the inbox any more. */
  const isEnding = ({ abort, before }: Running): boolean => {
    const { turn, open } = agent().session.turn
    return abort.signal.aborted || (turn > before && !open)
  }

  const cancel = async (reason: string): Promise<void> => {
    const current = running
    if (current) current.again = false
    current?.abort.abort(reason)
    await current?.outcome
  }

  return {
    status() {
      if (!running) return { kind: 'idle' }
      const waiting = running.waiting === undefined ? {} : { waiting: running.waiting }
      return { kind: 'running', turn: agent().session.turn.turn, ...waiting }
    },
    wake() {
      if (running && isEnding(running)) {
        running.again = true
        return running.outcome.then((ended) => running?.outcome ?? ended)
      }
      if (running) return running.outcome
      if (stopped || !hasInput(agent().session.inbox)) return undefined
      return start().outcome
    },
    cancel,
    async idle() {
      for (let now = running; now; now = running) await now.outcome
    },
    async stop() {
      stopped = true
      await cancel('closed')
    },
  }
}
