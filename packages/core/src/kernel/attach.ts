import { assert } from './assert.ts'
import { containerOf, FiberState } from './container.ts'
import type { Context } from './context.ts'
import { rowOf } from './row.ts'

/**
 * `ctx.effect` for synchronous registrations that refuses a fiber which would never undo them:
 * the container accepts effects while a fiber waits, unloads or has failed, and then forgets them.
 */
export function attach(ctx: Context, label: string, register: () => () => void): () => void {
  const { uid, state } = ctx.fiber
  const open = state === FiberState.LOADING || state === FiberState.ACTIVE
  // A disposed fiber is left to the container, whose INACTIVE_EFFECT error callers know.
  assert(uid === null || open, `${label}: ${rowOf(ctx)} is not loaded, so nothing would undo this`)
  const undo = containerOf(ctx).effect(register, label)
  return () => void undo()
}
