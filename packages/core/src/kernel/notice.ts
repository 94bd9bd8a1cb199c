import type { Context } from './context.ts'
import { describeFailure, log } from './log.ts'
import { createRoster, type Registration } from './roster.ts'
import { scopeOf, type Scope } from './scope.ts'

export interface Notice<Payload> {
  readonly name: string
  /** Hears announcements of its scope and below (of all, outside of scopes) until `ctx` unloads. */
  use(
    ctx: Context,
    listener: (payload: Payload) => unknown,
    options?: { scope?: Scope },
  ): () => void
  /** Calls the listeners at once; what they throw or reject with is logged, never passed on. */
  emit(ctx: Context, payload: Payload, scope?: Scope): void
}

/** Announces what happened, at a low rate; control flow is a call or a hook. */
export function defineNotice<Payload>(name: string): Notice<Payload> {
  const roster = createRoster<(payload: Payload) => unknown>(`notice ${name}`)
  return {
    name,
    use: (ctx, listener, options = {}) => roster.add(ctx, listener, options),
    emit: (ctx, payload, scope = scopeOf(ctx)) => {
      for (const entry of roster.select(ctx, scope)) {
        if (entry.live) deliver(ctx, name, entry, payload)
      }
    },
  }
}

function deliver<Payload>(
  ctx: Context,
  name: string,
  entry: Registration<(payload: Payload) => unknown>,
  payload: Payload,
): void {
  const report = (error: unknown) => {
    const fields = { row: entry.row, error: describeFailure(error) }
    log(ctx.root, 'error', `a listener of ${name} failed`, fields)
  }
  try {
    const result = entry.value(payload)
    if (result instanceof Promise) result.catch(report)
  } catch (error) {
    report(error)
  }
}
