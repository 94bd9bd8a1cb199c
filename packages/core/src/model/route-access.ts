/** What a route needs to know of the world: secrets by name, and variables that are none. */
export interface Surroundings {
  readonly credentials: { has(name: string): boolean; reveal(name: string): string }
  readonly variable: (name: string) => string | undefined
}

export interface RouteAccess {
  baseURL(): string
  /** The base URL comes from the person's own variable: behind it may be any compatible server. */
  redirected(): boolean
  /** `undefined` where none is needed; throws `CREDENTIAL_MISSING`. Read anew for each request. */
  apiKey(): string | undefined
  /** A credential, a base URL of the person's own, or a route that needs no key. */
  available(): boolean
}

interface AccessFields {
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
    apiKey: () => {
      if (apiKeyEnv === undefined) return undefined
      // A server behind a base URL of one's own often takes no key; a vendor always wants one.
      if (!hasKey() && ownURL() !== undefined) return undefined
      return world.credentials.reveal(apiKeyEnv)
    },
    available: () => apiKeyEnv === undefined || hasKey() || ownURL() !== undefined,
  }
}
