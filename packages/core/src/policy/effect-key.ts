import type { Effect } from './effect.ts'

/**
 * Equal for two effects when allowing one allows the other: the same path, command and directory,
 * host and port. `effect` is canonical.
 */
export function effectKey(effect: Effect): string {
  return JSON.stringify([effect.kind, ...keyParts(effect)])
}

function keyParts(effect: Effect): readonly unknown[] {
  switch (effect.kind) {
    case 'fs:read':
    case 'fs:write':
      return [effect.path]
    case 'process':
      return [effect.cwd, effect.command ?? effect.argv]
    case 'net':
      return [effect.host.toLowerCase(), effect.port]
    case 'secret':
      return [effect.name]
    case 'spend':
      return [effect.tokens, effect.purpose]
    case 'spawn':
      return [effect.preset]
    case 'config':
      return [effect.target]
  }
}
