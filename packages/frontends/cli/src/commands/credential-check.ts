import type { Composition } from '@cordage/core/compose'
import type { Host } from '@cordage/core/kernel'
import { cliError } from './errors.ts'
import { modelRows, type RouteFields } from './routes.ts'

type Places = Pick<Host, 'env' | 'credentials'>

/**
 * Throws `CREDENTIAL_NONE` when no route of the composition has a key or a base URL: it is told
 * before anything boots. Models of a row that says nothing about its routes may need neither.
 */
export function assertModelAvailable(composition: Composition, places: Places): void {
  const rows = modelRows(composition)
  const routes = rows.flatMap((row) => row.routes)
  if (rows.some(({ id, routes }) => id !== 'model-scripted' && routes.length === 0)) return
  if (routes.some((route) => isAvailable(route, places))) return
  const keys = routes.flatMap(({ apiKeyEnv = [] }) => apiKeyEnv)
  const urls = routes.flatMap(({ baseURLEnv = [] }) => baseURLEnv)
  throw cliError('CREDENTIAL_NONE', { ways: [...new Set([...keys, ...urls])] })
}

/** Whether a run could use the route: by a key, a base URL of one's own, or because it is free. */
export function isAvailable({ apiKeyEnv, baseURLEnv }: RouteFields, places: Places): boolean {
  if (apiKeyEnv === undefined) return true
  if (baseURLEnv !== undefined && isSet(places.env, baseURLEnv)) return true
  return sourceOf(apiKeyEnv, places) !== undefined
}

/** Where a credential comes from; the environment wins. */
export function sourceOf(name: string, places: Places): 'environment' | 'file' | undefined {
  if (isSet(places.env, name)) return 'environment'
  return isSet(places.credentials?.() ?? {}, name) ? 'file' : undefined
}

function isSet(values: Readonly<Record<string, string | undefined>>, name: string): boolean {
  return Object.hasOwn(values, name) && (values[name]?.trim() ?? '') !== ''
}
