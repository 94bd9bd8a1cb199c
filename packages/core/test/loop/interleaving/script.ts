import type { Scheduler } from 'fast-check'
import { modelError, type ModelEvent } from '@cordage/core/model'
import type { ToolRun } from '@cordage/core/tool'
import type { Plan, PlannedCall, Reply, Verdict } from './plan.ts'
import { LATE } from './world.ts'

/**
 * What model, tools and hooks do in one run. Each of their steps is a task of the scheduler. Once
 * the plan is used up they do what is asked of them, so that every run comes to an end.
 */
export class Script {
  /** Cancellations that have been asked for and have not come to their end. */
  cancelling = 0
  readonly violations: string[] = []
  readonly #scheduler: Scheduler
  readonly #replies: Reply[]
  readonly #verdicts: Verdict[]
  /** Lets go of what is deaf. */
  readonly #deaf: (() => void)[] = []
  readonly #deafHooks: (() => void)[] = []

  constructor(scheduler: Scheduler, { replies, verdicts }: Plan) {
    this.#scheduler = scheduler
    this.#replies = [...replies]
    this.#verdicts = [...verdicts]
  }

  /** From now on everything goes well. */
  calm(): void {
    this.#replies.length = 0
    this.#verdicts.length = 0
  }

  /** Has what was left behind do what it does when nobody waits any more. */
  releaseDeaf(): void {
    for (const release of this.#deaf.splice(0)) release()
    this.releaseHooks()
  }

  releaseHooks(): void {
    for (const release of this.#deafHooks.splice(0)) release()
  }

  async *answer(signal: AbortSignal): AsyncIterable<ModelEvent> {
    if (this.cancelling > 0) this.violations.push('a request after a cancellation')
    if (signal.aborted) this.violations.push('a request under a signal that had aborted')
    const reply = this.#replies.shift() ?? { kind: 'say' }
    for (const event of eventsOf(reply)) {
      await this.#turn('model', signal)
      yield event
    }
    if (reply.kind === 'broken') throw modelError('SERVER', {})
    if (reply.kind !== 'deaf') return
    await this.#deafness()
    yield { type: 'text', text: LATE }
    yield { type: 'finish', reason: 'stop' }
  }

  async work(does: Exclude<PlannedCall['does'], 'misuse'>, run: ToolRun): Promise<unknown> {
    if (run.signal.aborted) this.violations.push('a body under a signal that had aborted')
    await this.#turn('tool', run.signal)
    if (does === 'throw') throw Object.create(null)
    if (does === 'odd') return { amount: 1n }
    if (does === 'deaf') {
      await this.#deafness()
      run.progress(LATE)
      await run.setCwd('/elsewhere').catch(() => {})
      return LATE
    }
    return 'worked'
  }

  async judge<Output>(name: string, next: () => Promise<Output>, other: Output): Promise<Output> {
    const verdict = this.#verdicts.shift() ?? 'pass'
    await this.#scheduler.schedule(Promise.resolve(), name)
    if (verdict === 'throw') throw Object.create(null)
    if (verdict === 'nonsense') return undefined as Output
    if (verdict.startsWith('deaf')) await this.#deafness(this.#deafHooks)
    return verdict.endsWith('other') ? other : next()
  }

  /** Before a body is written. */
  async prepare(): Promise<void> {
    if (this.#verdicts[0]?.startsWith('deaf')) await this.#deafness(this.#deafHooks)
  }

  /** The next task of the scheduler, or the end of `signal`. */
  async #turn(name: string, signal: AbortSignal): Promise<void> {
    const ended = Promise.withResolvers<void>()
    const end = () => ended.reject(signal.reason)
    signal.addEventListener('abort', end, { once: true })
    try {
      await Promise.race([this.#scheduler.schedule(Promise.resolve(), name), ended.promise])
    } finally {
      signal.removeEventListener('abort', end)
    }
  }

  #deafness(deaf = this.#deaf): Promise<void> {
    return new Promise((resolve) => void deaf.push(resolve))
  }
}

function eventsOf(reply: Reply): ModelEvent[] {
  const end = (reason: string): ModelEvent => ({ type: 'finish', reason })
  const text: ModelEvent = { type: 'text', text: 'words' }
  if (reply.kind === 'calls') {
    const calls = reply.calls.map(({ id, name, does }, index): ModelEvent => {
      const args = does === 'misuse' ? '{"deos":' : JSON.stringify({ does })
      return { type: 'tool-call', index, id, name, arguments: args }
    })
    return [text, ...calls, end(reply.finish)]
  }
  if (reply.kind === 'empty') return [{ type: 'text', text: ' \n' }, end('stop')]
  if (reply.kind === 'musing') return [{ type: 'reasoning', text: 'hm' }, end('stop')]
  if (reply.kind === 'cut') return [text, end('max-tokens')]
  return reply.kind === 'say' ? [text, end('stop')] : [text]
}
