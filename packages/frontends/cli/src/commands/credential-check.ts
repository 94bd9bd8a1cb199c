import type { Composition, Row } from '@cordage/core/compose'
import { cliError } from './errors.ts'

/**
 * Throws `CREDENTIAL_NONE` when no route of the composition has a key or a base URL: it is told
 * before anything boots. Models of a row that says nothing about its routes may need neither.
 */
export function assertModelAvailable(
  composition: Composition,
  env: Readonly<Record<string, string | undefined>>,
): void {
  const rows = composition.rows.filter((row) => !row.disabled && row.id.startsWith('model-'))
  const routes = rows.flatMap(routesOf)
  if (rows.some((row) => row.id !== 'model-scripted' && routesOf(row).length === 0)) return
  const isSet = (name: string) => (env[name]?.trim() ?? '') !== ''
  if (routes.some((names) => names.length === 0 || names.some(isSet))) return
  const names = routes.flat()
  const keys = names.filter((name) => !name.endsWith('_BASE_URL'))
  const urls = names.filter((name) => name.endsWith('_BASE_URL'))
  throw cliError('CREDENTIAL_NONE', { ways: [...new Set([...keys, ...urls])] })
}

/** For each route the variables of which one is enough; none where no credential is needed. */
function routesOf(row: Row): string[][] {
  const providers = row.config['providers']
  if (typeof providers !== 'object' || providers === null) return []
  return Object.values(providers as Record<string, Record<string, unknown>>).map((route) =>
    [route['apiKeyEnv'], route['baseURLEnv']].filter((name) => typeof name === 'string'),
  )
}
