import type { Actor } from './effect.ts'
import type { RuleScope } from './policy.ts'

/** What people have allowed, by `effectKey`. Another one may keep the lasting scopes on a disk. */
export interface Grants {
  add(key: string, actor: Actor, scope: RuleScope): void
  /** Whether a grant covers it; one for `once` is used up by that. */
  covers(key: string, actor: Actor): boolean
}

/** Grants that end with the process: `project` and `user` reach across its sessions only. */
export function createGrants(): Grants {
  const kept = new Set<string>()
  return {
    add: (key, actor, scope) => {
      const place = placeOf(actor, scope)
      if (place !== undefined) kept.add(place + key)
    },
    covers: (key, actor) => {
      const lasting = (['session', 'project', 'user'] as const).some((scope) => {
        const place = placeOf(actor, scope)
        return place !== undefined && kept.has(place + key)
      })
      return lasting || kept.delete(placeOf(actor, 'once') + key)
    },
  }
}

/** `undefined` where the actor has no such place, so that nothing is granted by accident. */
function placeOf(actor: Actor, scope: RuleScope): string | undefined {
  if (scope === 'user') return 'user:'
  if (scope === 'project') return actor.project && `project:${JSON.stringify(actor.project)}:`
  return `${scope}:${JSON.stringify(actor.sessionId)}:`
}
