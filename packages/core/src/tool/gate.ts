import type { Context } from '../kernel/index.ts'
import { contains, effectKey, effectText } from '../policy/index.ts'
import type { Actor, Effect } from '../policy/index.ts'
import { toolError } from './errors.ts'

export interface GateOptions {
  readonly ctx: Context
  readonly tool: string
  /** Asked anew at each use: an authority may shrink while a call runs. */
  readonly actor: () => Actor
  /** What the tool declared: a use of a kind that is not among them is refused. */
  readonly declared: readonly Effect[]
  /** What a person allowed for this call, canonical. */
  readonly approved: readonly Effect[]
}

/** Decides each use of one call; every refusal is `TOOL_DENIED`. */
export interface Gate {
  check(effect: Effect): void
  /** For a directory that has to be made on the way to an approved file. */
  checkParent(directory: string): void
  /** Whether the policy lets this effect be, without throwing and whatever was declared. */
  lets(effect: Effect): boolean
  deny(reason: string): never
  readonly closed: boolean
  close(): void
}

export function createGate(options: GateOptions): Gate {
  const { ctx, tool, actor, declared } = options
  const approved = new Set(options.approved.map(effectKey))
  const kinds = new Set<string>(declared.map(({ kind }) => kind))
  // What may be written may be looked at first.
  if (kinds.has('fs:write')) kinds.add('fs:read')
  let closed = false

  const deny = (reason: string): never => {
    throw toolError('TOOL_DENIED', { tool, reason })
  }
  const judge = (effect: Effect, isApproved: boolean): string | undefined => {
    if (closed) return 'the call has ended'
    const decision = ctx.get('policy')?.decide(effect, actor())
    if (!decision) return 'no policy is loaded (row core-policy)'
    if (decision.answer === 'allow' || (decision.answer === 'ask' && isApproved)) return undefined
    return `${effectText(effect)}: ${decision.reason}`
  }
  const enforce = (effect: Effect, isApproved: boolean) => {
    if (!kinds.has(effect.kind)) deny(`it did not declare the effect ${effect.kind}`)
    const refusal = judge(effect, isApproved)
    if (refusal !== undefined) deny(refusal)
  }
  return {
    check: (effect) => enforce(effect, approved.has(effectKey(effect))),
    checkParent: (path) => {
      const onTheWay = options.approved.some((effect) => {
        return effect.kind === 'fs:write' && contains(path, effect.path)
      })
      enforce({ kind: 'fs:write', path }, onTheWay)
    },
    lets: (effect) => judge(effect, approved.has(effectKey(effect))) === undefined,
    deny,
    get closed() {
      return closed
    },
    close: () => {
      closed = true
    },
  }
}
