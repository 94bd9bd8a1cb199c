import type { ModelProvider } from '@cordage/core/model'
import { config, type Route } from '../src/config.ts'
import { createProvider } from '../src/provider.ts'

/** A provider `peer` with the given members of its configuration. */
export function makeProvider(fields: Record<string, unknown>): ModelProvider {
  const route = { displayName: 'Peer', baseURL: 'http://127.0.0.1:9', ...fields }
  const { providers } = config.parse({ providers: { peer: route } })
  return createProvider('peer', providers.peer as Route, {
    credentials: { has: () => true, reveal: () => 'key' },
    variable: () => undefined,
  })
}
