import { assert } from './assert.ts'
import { containerOf } from './container.ts'
import type { Context } from './context.ts'
import { describeFailure, log } from './log.ts'

const kScope = Symbol('cordage.scope')

/** An agent's own place for registrations: one fiber and one tag, never a realm of services. */
export interface Scope {
  readonly key: symbol
  readonly label: string
  readonly ctx: Context
  readonly parent?: Scope
  /** Closes what was opened inside, newest first, then undoes everything registered on `ctx`. */
  close(): Promise<void>
}

type Close = () => Promise<void>
const contents = new WeakMap<Scope, Set<Close>>()

/** Opens a scope that lives until `close()` or until the plugin behind `ctx` unloads. */
export function openScope(ctx: Context, label: string, parent?: Scope): Scope {
  const outer = parent ?? scopeOf(ctx)
  const inside = new Set<Close>()
  const fiber = containerOf(ctx).plugin({ name: label, apply: () => {} }).ctx.fiber

  let closing: Promise<void> | undefined
  const tearDown = (): Promise<void> => (closing ??= closeAll())
  const closeAll = async (): Promise<void> => {
    await drain(ctx, label, inside)
    await fiber.dispose()
    // Not earlier: until then the outer scope has to find and await it.
    release()
  }
  // The effect outlasts the teardown: an opener that unloads meanwhile would not wait for a fiber
  // whose dispose already began. Yielding the fiber's own disposer takes it out of the opener.
  const forget = ctx.effect(function* () {
    yield fiber.dispose
    yield tearDown
  }, `scope ${label}`)

  let closed: Promise<void> | undefined
  const scope: Scope = {
    key: Symbol(label),
    label,
    ctx: fiber.ctx.extend({ [kScope]: undefined }),
    ...(outer ? { parent: outer } : {}),
    close: () => (closed ??= tearDown().then(forget)),
  }
  Object.defineProperty(scope.ctx, kScope, { value: scope })
  contents.set(scope, inside)
  const release = outer ? adopt(outer, scope.close) : () => {}
  return scope
}

/** The nearest scope around `ctx`, undefined outside of all. */
export function scopeOf(ctx: Context): Scope | undefined {
  return (ctx as Context & { [kScope]?: Scope })[kScope]
}

/** Whether something registered in `owner` (undefined: everywhere) applies in `scope`. */
export function reaches(owner: Scope | undefined, scope: Scope | undefined): boolean {
  if (!owner) return true
  for (let at = scope; at; at = at.parent) if (at === owner) return true
  return false
}

/** Has `scope` call `close` before it closes itself; the result takes that back. */
export function adopt(scope: Scope, close: Close): () => void {
  const inside = contents.get(scope)
  assert(inside, `scope ${scope.label} was not opened by openScope`)
  inside.add(close)
  return () => void inside.delete(close)
}

async function drain(ctx: Context, label: string, inside: Set<Close>): Promise<void> {
  for (const close of [...inside].reverse()) {
    try {
      await close()
    } catch (error) {
      log(ctx, 'error', `scope ${label}: closing a part failed`, { error: describeFailure(error) })
    }
  }
}
