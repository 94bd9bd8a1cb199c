import type { Composition } from '@cordage/core/compose'

/** A route to models as its row declares it, before anything boots. */
export interface RouteFields {
  /** The part of a model's name before the slash. */
  readonly id: string
  readonly displayName: string
  readonly apiKeyEnv?: string
  readonly baseURLEnv?: string
  readonly models: readonly string[]
}

/** A row of models; one that says nothing about its routes may have any. */
export interface ModelRow {
  readonly id: string
  readonly routes: readonly RouteFields[]
}

export function modelRows({ rows }: Composition): ModelRow[] {
  return rows
    .filter((row) => !row.disabled && row.id.startsWith('model-'))
    .map(({ id, config }) => ({
      id,
      routes: entriesOf(config['providers']).map(([route, value]) => routeOf(route, value)),
    }))
}

export function routesOf(composition: Composition): RouteFields[] {
  return modelRows(composition).flatMap(({ routes }) => routes)
}

// A configuration that nobody has checked yet may hold anything.
function routeOf(id: string, value: unknown): RouteFields {
  const fields = Object.fromEntries(entriesOf(value))
  const text = (name: string) => {
    const found = fields[name]
    return typeof found === 'string' ? { [name]: found } : {}
  }
  const models = Array.isArray(fields['models']) ? (fields['models'] as unknown[]) : []
  const ids = models.map((model) => Object.fromEntries(entriesOf(model))['id'])
  return {
    id,
    displayName: id,
    ...text('displayName'),
    ...text('apiKeyEnv'),
    ...text('baseURLEnv'),
    models: ids.filter((found) => typeof found === 'string'),
  }
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : []
}
