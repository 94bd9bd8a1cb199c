import type { Actor } from './effect.ts'
import type { GrantScope } from './policy.ts'

/** What people have allowed, by `effectKey`. Another one may keep the lasting scopes on a disk. */
export interface Grants {
  add(key: string, actor: Actor, scope: GrantScope): void
  /** Whether a grant covers it. */
  covers(key: string, actor: Actor): boolean
}

const scopes = ['session', 'project', 'user'] as const

/** Grants that end with the process: `project` and `user` reach across its sessions only. */
export function createGrants(): Grants {
  const kept = new Set<string>()
  return {
    add: (key, actor, scope) => {
      const place = placeOf(actor, scope)
      if (place !== undefined) kept.add(place + key)
    },
    covers: (key, actor) => {
      return scopes.some((scope) => {
        const place = placeOf(actor, scope)
        return place !== undefined && kept.has(place + key)
      })
    },
  }
}

/** `undefined` where the actor has no such place, so that nothing is granted by accident. */
function placeOf(actor: Actor, scope: GrantScope): string | undefined {
  if (scope === 'user') return 'user:'
  if (scope === 'project') return actor.project && `project:${JSON.stringify(actor.project)}:`
  return `${scope}:${JSON.stringify(actor.sessionId)}:`
}
