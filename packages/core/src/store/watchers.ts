import { describeFailure, log, type Context } from '../kernel/index.ts'
import type { SessionUpdate } from '../session/index.ts'

type Listener = (update: SessionUpdate) => unknown

interface Watcher {
  readonly ctx: Context
  readonly listener: Listener
}

/**
 * Those who watch a session. Every one of them sees every update in the same order, also when one
 * appends while it is told of something. What a watcher throws is logged and goes no further.
 */
export class Watchers {
  readonly #watchers = new Set<Watcher>()
  readonly #queue: SessionUpdate[] = []
  #publishing = false

  add(ctx: Context, listener: Listener): () => void {
    const watcher = { ctx, listener }
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
      for (const watcher of this.#watchers) deliver(watcher, update)
    }
    this.#publishing = false
  }

  clear(): void {
    this.#watchers.clear()
  }
}

function deliver({ ctx, listener }: Watcher, update: SessionUpdate): void {
  const report = (error: unknown) => {
    log(ctx, 'error', 'a watcher of a session failed', { error: describeFailure(error) })
  }
  try {
    const result = listener(update)
    if (result instanceof Promise) result.catch(report)
  } catch (error) {
    report(error)
  }
}
