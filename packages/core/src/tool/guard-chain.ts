import { defineHook, describeFailure, log, rowOf } from '../kernel/index.ts'
import type { Context, Scope } from '../kernel/index.ts'
import type { Answer } from '../policy/index.ts'

/** A guard's answer; `undefined` and `allow` leave the decision to the others. */
export interface GuardAnswer {
  readonly answer: Answer
  readonly reason: string
}

export type Guard<Input> = (
  input: Input,
) => GuardAnswer | undefined | Promise<GuardAnswer | undefined>

const strictness = { allow: 0, ask: 1, deny: 2 } as const

/** The stricter of two answers; of equal ones the first. */
export function strictest(a: GuardAnswer, b: GuardAnswer): GuardAnswer {
  return strictness[b.answer] > strictness[a.answer] ? b : a
}

/** A hook whose handlers cannot skip, lift or rewrite each other's answers. */
export interface GuardChain<Input> {
  readonly name: string
  /** Has `guard` judge in the scope of `ctx` and below until `ctx` unloads. */
  use(ctx: Context, guard: Guard<Input>, options?: { id?: string; order?: number }): () => void
  run(ctx: Context, input: Input, scope?: Scope): Promise<GuardAnswer>
}

export function guardChain<Input>(name: string): GuardChain<Input> {
  const hook = defineHook<Input, GuardAnswer>(name)
  return {
    name,
    use: (ctx, guard, options) => {
      return hook.use(
        ctx,
        async (input, next) => {
          const own = await judge(ctx, name, guard, input)
          return own.answer === 'deny' ? own : strictest(own, await next())
        },
        options,
      )
    },
    run: (ctx, input, scope) => {
      return hook.run(ctx, input, async () => ({ answer: 'allow', reason: '' }), scope)
    },
  }
}

async function judge<Input>(
  ctx: Context,
  name: string,
  guard: Guard<Input>,
  input: Input,
): Promise<GuardAnswer> {
  const row = rowOf(ctx)
  try {
    const given = (await guard(input)) ?? { answer: 'allow', reason: '' }
    if (Object.hasOwn(strictness, given.answer)) return given
    return { answer: 'deny', reason: `${row} gave no answer that ${name} knows` }
  } catch (error) {
    log(ctx, 'error', `${name} failed, so the call is denied`, { error: describeFailure(error) })
    return { answer: 'deny', reason: `${row} failed while judging the call` }
  }
}
