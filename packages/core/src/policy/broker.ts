import { createRegistry, describeFailure, log, rowOf } from '../kernel/index.ts'
import type { Context, Entry } from '../kernel/index.ts'
import { effectKey } from './effect-key.ts'
import type { Actor, Answer, Decision, Effect } from './effect.ts'
import { createGrants } from './grants.ts'
import { decideMode } from './mode.ts'
import { canonicalPath } from './paths.ts'
import type { Policy, Rule } from './policy.ts'
import { decideProtected } from './protected.ts'

const strictness: Readonly<Record<Answer, number>> = { allow: 0, ask: 1, deny: 2 }

/** The gate: mode, protected paths and rules, merged to the strictest; then grants. */
export function createPolicy(ctx: Context, home: string): Policy {
  const rules = createRegistry<{ readonly ctx: Context; readonly rule: Rule }>('policy rule')
  const grants = createGrants()
  const harnessHome = canonicalPath(home) ?? home
  let added = 0

  const decide = (effect: Effect, actor: Actor): Decision => {
    const canonical = canonicalEffect(effect)
    if (!canonical) return { answer: 'deny', rule: 'path', reason: 'the path is not absolute' }
    const judged = rules.list(actor.scope).map((entry) => judge(ctx, entry, canonical, actor))
    const fixed = 'path' in canonical ? decideProtected(canonical, harnessHome) : undefined
    const decision = merge(decideMode(canonical, actor.authority), fixed, judged)
    if (decision.answer !== 'ask' || !grants.covers(effectKey(canonical), actor)) return decision
    return { answer: 'allow', rule: 'grant', reason: 'a person allowed exactly this' }
  }

  return {
    decide,
    rule: (owner, rule) => {
      // Never by the rule's own id: an inner scope must not replace what an outer one forbids.
      rules.add(owner, `${rule.id}#${added++}`, { ctx: owner, rule })
    },
    grant: (effect, actor, scope) => {
      const canonical = canonicalEffect(effect)
      if (canonical) grants.add(effectKey(canonical), actor, scope)
    },
  }
}

/** The effect with canonical paths, or `undefined` where one is not absolute. */
export function canonicalEffect(effect: Effect): Effect | undefined {
  if ('path' in effect) {
    const path = canonicalPath(effect.path)
    return path === undefined ? undefined : { ...effect, path }
  }
  if (effect.kind !== 'process') return effect
  const cwd = canonicalPath(effect.cwd)
  return cwd === undefined ? undefined : { ...effect, cwd }
}

/** An `allow` of a rule lifts the `ask` of the mode, and nothing else lifts anything. */
function merge(
  mode: Decision,
  fixed: Decision | undefined,
  judged: readonly (Decision | undefined)[],
): Decision {
  const lift = judged.find((decision) => decision?.answer === 'allow')
  const start = lift && mode.answer === 'ask' ? lift : mode
  return [fixed, ...judged].reduce<Decision>((strictest, decision) => {
    if (!decision) return strictest
    return strictness[decision.answer] > strictness[strictest.answer] ? decision : strictest
  }, start)
}

function judge(
  ctx: Context,
  { value }: Entry<{ readonly ctx: Context; readonly rule: Rule }>,
  effect: Effect,
  actor: Actor,
): Decision | undefined {
  const { id } = value.rule
  const row = rowOf(value.ctx)
  const broken = (reason: string): Decision => ({ answer: 'deny', rule: id, reason })
  try {
    const decision = value.rule.decide(effect, actor)
    if (!decision || Object.hasOwn(strictness, decision.answer)) return decision
    return broken(`rule ${id} of ${row} gave no known answer`)
  } catch (error) {
    log(ctx, 'error', `rule ${id} of ${row} failed, so it denies`, {
      error: describeFailure(error),
    })
    return broken(`rule ${id} of ${row} failed`)
  }
}
