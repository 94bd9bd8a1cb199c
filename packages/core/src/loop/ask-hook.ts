import type { Hook } from '../kernel/index.ts'
import { bounded } from './bounded.ts'
import { loopError } from './errors.ts'
import type { TurnRun } from './run.ts'

/** What a hook gives without handlers, and what of it the loop can use. */
export interface Asked<Input, Output> {
  readonly otherwise: (input: Input) => Output | Promise<Output>
  readonly isUsable: (answer: Output) => boolean
  /** What watchers are told that the turn waits for; the name of the hook unless given. */
  readonly waiting?: string
}

/** Runs a hook of the turn's agent. Handlers are plugins: what they give is looked at. */
export async function askHook<Input, Output>(
  run: TurnRun,
  hook: Hook<Input, Output>,
  input: Input,
  { otherwise, isUsable, waiting = hook.name }: Asked<Input, Output>,
): Promise<Output> {
  const { scope } = run.agent
  const ask = () => hook.run(scope.ctx, input, otherwise, scope)
  run.waiting(waiting)
  try {
    const answer = await bounded(run, `A hook of ${hook.name}`, ask)
    if (!isAnswer(answer) || !isUsable(answer)) {
      throw loopError('HOOK_ANSWER_INVALID', { hook: hook.name })
    }
    return answer
  } finally {
    run.waiting(undefined)
  }
}

function isAnswer(answer: unknown): boolean {
  return typeof answer === 'object' && answer !== null
}
