import { describeFailure, log, type Context } from '../kernel/index.ts'
import type { SessionUpdate } from '../session/index.ts'

interface Watcher {
  readonly ctx: Context
  readonly listener: (update: SessionUpdate) => unknown
  readonly ended: ((reason: unknown) => unknown) | undefined
}

/**
 * Those who watch a session. Every one of them sees every update in the same order, also when one
 * appends while it is told of something. What a watcher throws is logged and goes no further.
 */
export class Watchers {
  readonly #watchers = new Set<Watcher>()
  readonly #queue: SessionUpdate[] = []
  #publishing = false
  #over: { readonly reason: unknown } | undefined

  add(ctx: Context, listener: Watcher['listener'], ended?: Watcher['ended']): () => void {
    const over = this.#over
    if (over) call(ctx, () => ended?.(over.reason))
    const watcher = { ctx, listener, ended }
    const undo = ctx.effect(() => {
      this.#watchers.add(watcher)
      return () => void this.#watchers.delete(watcher)
    }, 'watch a session')
    return () => void undo()
  }

  get size(): number {
    return this.#watchers.size
  }

  publish(updates: readonly SessionUpdate[]): void {
    this.#queue.push(...updates)
    if (this.#publishing) return
    this.#publishing = true
    for (let update = this.#queue.shift(); update; update = this.#queue.shift()) {
      for (const { ctx, listener } of this.#watchers) call(ctx, () => listener(update))
    }
    this.#publishing = false
  }

  /** Nothing more will come: each is told why, once, and so is whoever watches later. */
  end(reason: unknown): void {
    if (this.#over) return
    this.#over = { reason }
    const watchers = [...this.#watchers]
    this.#watchers.clear()
    for (const { ctx, ended } of watchers) call(ctx, () => ended?.(reason))
  }
}

function call(ctx: Context, tell: () => unknown): void {
  const report = (error: unknown) => {
    log(ctx, 'error', 'a watcher of a session failed', { error: describeFailure(error) })
  }
  try {
    const result = tell()
    if (result instanceof Promise) result.catch(report)
  } catch (error) {
    report(error)
  }
}
