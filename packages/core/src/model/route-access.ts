import { wrongInBaseURL } from './base-url.ts'
import { modelError } from './errors.ts'
import { wrongInKey } from './key.ts'

/** What a route needs to know of the world: secrets by name, and variables that are none. */
export interface Surroundings {
  readonly credentials: { has(name: string): boolean; reveal(name: string): string }
  readonly variable: (name: string) => string | undefined
}

export interface RouteAccess {
  baseURL(): string
  /** The base URL comes from the person's own variable: behind it may be any compatible server. */
  redirected(): boolean
  /** Throws `MODEL_BASE_URL_INVALID` for a person's own base URL that is none. */
  check(): void
  /**
   * `undefined` where none is needed; throws `CREDENTIAL_MISSING`, and `MODEL_KEY_INVALID` for what
   * cannot be one. Read anew for each request.
   */
  apiKey(): string | undefined
  /** A credential, a base URL of the person's own, or a route that needs no key. */
  available(): boolean
}

interface AccessFields {
  readonly api: string
  readonly baseURL: string
  readonly baseURLEnv?: string | undefined
  readonly apiKeyEnv?: string | undefined
}

/** Where a configured route is reached, and with which key. */
export function accessRoute(route: AccessFields, world: Surroundings): RouteAccess {
  const { baseURLEnv, apiKeyEnv } = route
  const ownURL = () => (baseURLEnv === undefined ? undefined : world.variable(baseURLEnv))
  const hasKey = () => apiKeyEnv !== undefined && world.credentials.has(apiKeyEnv)
  return {
    baseURL: () => ownURL() ?? route.baseURL,
    redirected: () => ownURL() !== undefined,
    check: () => {
      const url = ownURL()
      const wrong = url === undefined ? undefined : wrongInBaseURL(url, route.api)
      if (wrong) throw modelError('MODEL_BASE_URL_INVALID', { name: baseURLEnv ?? '', wrong })
    },
    apiKey: () => {
      if (apiKeyEnv === undefined) return undefined
      // A server behind a base URL of one's own often takes no key; a vendor always wants one.
      if (!hasKey() && ownURL() !== undefined) return undefined
      const key = world.credentials.reveal(apiKeyEnv)
      const wrong = wrongInKey(key)
      if (wrong) throw modelError('MODEL_KEY_INVALID', { name: apiKeyEnv, wrong })
      return key
    },
    available: () => apiKeyEnv === undefined || hasKey() || ownURL() !== undefined,
  }
}
