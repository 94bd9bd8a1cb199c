import type { Effect } from './effect.ts'

/** An effect in words for people and models: `write /etc/hosts`. Callers escape what they show. */
export function effectText(effect: Effect): string {
  switch (effect.kind) {
    case 'fs:read':
      return `read ${effect.path}`
    case 'fs:write':
      return `write ${effect.path}`
    case 'process':
      return `run \`${effect.command ?? effect.argv.join(' ')}\` in ${effect.cwd}`
    case 'net':
      return `reach ${effect.url ?? `${effect.host}:${effect.port}`}`
    case 'secret':
      return `use the secret ${effect.name}`
    case 'spend':
      return `spend ${effect.tokens} tokens on ${effect.purpose}`
    case 'spawn':
      return `start an agent with preset ${effect.preset}`
    case 'config':
      return `change the configuration of ${effect.target}`
  }
}
