import { describe } from '@cordage/core/error'
import type { Host } from '@cordage/core/kernel'
import type { ModelProvider, Models } from '@cordage/core/model'
import { hasNoList } from '../probe/probes.ts'
import { bounded } from '../probe/run-probe.ts'
import { sourceOf } from './credential-check.ts'
import type { Check } from './doctor-check.ts'

const PROBE_MS = 5_000

interface ProbeOptions {
  readonly host: Host
  readonly offline: boolean
}

/** The model that a run would use, and each route with what its server says. */
export async function checkModels(models: Models, options: ProbeOptions): Promise<Check[]> {
  const routes = models.providers().filter((provider) => provider.scripted !== true)
  return [checkDefault(models), ...(await Promise.all(routes.map((r) => checkRoute(r, options))))]
}

function checkDefault(models: Models): Check {
  const what = 'model'
  try {
    const chosen = models.default()
    if (chosen !== undefined && chosen.route.scripted !== true) {
      return { what, state: 'ok', detail: `${chosen.provider}/${chosen.model}` }
    }
    const remedy = 'cordage auth set <provider>, or see cordage models list'
    return { what, state: 'missing', detail: `no key and no base URL: ${remedy}` }
  } catch (error) {
    return { what, state: 'failed', detail: describe(error).message }
  }
}

async function checkRoute(route: ModelProvider, { host, offline }: ProbeOptions): Promise<Check> {
  const what = route.displayName
  try {
    if (!route.available()) {
      const name = route.apiKeyEnv ?? 'a key'
      return { what, state: 'missing', detail: `no ${name}: cordage auth set ${route.id}` }
    }
    const source = route.apiKeyEnv === undefined ? undefined : sourceOf(route.apiKeyEnv, host)
    const key = source === undefined ? 'without a key' : `${route.apiKeyEnv} of the ${source}`
    if (offline) return { what, state: 'ok', detail: `${key}; not tried` }
    return await probe(route, key)
  } catch (error) {
    return { what, state: 'failed', detail: describe(error).message }
  }
}

/** Asks for the list of models, which costs nothing. */
async function probe(route: ModelProvider, key: string): Promise<Check> {
  const what = route.displayName
  const signal = AbortSignal.timeout(PROBE_MS)
  try {
    const listed = await bounded(route.list(signal), signal)
    return { what, state: 'ok', detail: `${key}; the server lists ${listed.length} models` }
  } catch (error) {
    if (signal.aborted) {
      const detail = `${route.baseURL ?? route.id} did not answer within ${PROBE_MS / 1000} s`
      return { what, state: 'failed', detail }
    }
    const { code, message } = describe(error)
    if (!hasNoList(code)) return { what, state: 'failed', detail: message }
    const detail = `${key}; the server answers but lists no models: cordage auth test ${route.id}`
    return { what, state: 'partial', detail }
  }
}
