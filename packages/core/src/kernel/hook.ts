import { assert } from './assert.ts'
import type { Context } from './context.ts'
import { createRoster, type Registration } from './roster.ts'
import { blame } from './row.ts'
import { scopeOf, type Scope } from './scope.ts'

/** Goes on with `changed` instead of the input, if given; may be called once. */
export type Next<Input, Output> = (changed?: Input) => Promise<Output>

/** Not calling `next` answers in place of everything further in. */
export type HookHandler<Input, Output> = (
  input: Input,
  next: Next<Input, Output>,
) => Output | Promise<Output>

export interface Hook<Input, Output> {
  readonly name: string
  /** Wraps runs in the scope of `ctx` and below (everywhere, outside of scopes) until it unloads. */
  use(
    ctx: Context,
    handler: HookHandler<Input, Output>,
    options?: { id?: string; order?: number },
  ): () => void
  /** Lower orders are further out. A failing handler rejects with an error that carries its `row`. */
  run(
    ctx: Context,
    input: Input,
    terminal: (input: Input) => Promise<Output> | Output,
    scope?: Scope,
  ): Promise<Output>
}

/** Middleware around a call, ordered by `(order, id)`, whose id is the row unless given. */
export function defineHook<Input, Output>(name: string): Hook<Input, Output> {
  const roster = createRoster<HookHandler<Input, Output>>(`hook ${name}`)
  return {
    name,
    use: (ctx, handler, options = {}) => roster.add(ctx, handler, options),
    run: (ctx, input, terminal, scope = scopeOf(ctx)) => {
      return dispatch(name, roster.select(ctx, scope), input, terminal)
    },
  }
}

function dispatch<Input, Output>(
  name: string,
  handlers: Registration<HookHandler<Input, Output>>[],
  first: Input,
  terminal: (input: Input) => Promise<Output> | Output,
): Promise<Output> {
  // A handler that lets a failure from further in pass is not the one to blame.
  const seen = new Set<unknown>()
  const step = async (index: number, input: Input): Promise<Output> => {
    const entry = handlers[index]
    if (!entry) return terminal(input)
    if (!entry.live) return step(index + 1, input)
    let called = false
    const next = async (changed?: Input): Promise<Output> => {
      assert(!called, `${entry.row} called next() twice in ${name}`)
      called = true
      try {
        return await step(index + 1, changed === undefined ? input : changed)
      } catch (error) {
        seen.add(error)
        throw error
      }
    }
    try {
      return await entry.value(input, next)
    } catch (error) {
      throw seen.has(error) ? error : blame(entry.row, error)
    }
  }
  return step(0, first)
}
