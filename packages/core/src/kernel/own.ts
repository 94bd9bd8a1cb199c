import { containerOf } from './container.ts'
import type { Context, Services } from './context.ts'
import { describeFailure, log } from './log.ts'

const closing = new WeakMap<object, Set<Promise<void>>>()

/**
 * Provides `ctx[key]` until the plugin unloads and then calls `close`, after every consumer has
 * stopped. Also closes when providing fails or the plugin was unloaded while `value` was opened.
 */
export function own<K extends keyof Services>(
  ctx: Context,
  key: K,
  value: Services[K],
  close?: () => unknown,
): void {
  let closed: Promise<void> | undefined
  const closeOnce = () => (closed ??= closeQuietly(ctx, key, close))
  try {
    // A synchronous generator: its parts are undone strictly one after the other, newest first.
    containerOf(ctx).effect(function* () {
      yield closeOnce
      yield containerOf(ctx).provide(key, value)
    }, `own ${key}`)
  } catch (error) {
    void closeOnce()
    throw error
  }
}

/** Waits for values that the fiber of `ctx` closed because they could not be provided. */
export async function closedOrphans(ctx: Context): Promise<void> {
  await Promise.all(closing.get(ctx.fiber) ?? [])
}

function closeQuietly(ctx: Context, key: string, close?: () => unknown): Promise<void> {
  const pending = closing.get(ctx.fiber) ?? new Set()
  closing.set(ctx.fiber, pending)
  const task = (async () => {
    try {
      await close?.()
    } catch (error) {
      log(ctx, 'error', `closing ctx.${key} failed`, { error: describeFailure(error) })
    }
  })()
  pending.add(task)
  return task.finally(() => pending.delete(task))
}
