import { didYouMean } from '../error/index.ts'
import type { Draft } from './fold.ts'
import { readWhole } from './layer.ts'
import type { LayerSource } from './layer.ts'
import { kindOf, merge, plain } from './located.ts'
import type { Located, LocatedList, LocatedMap } from './located.ts'
import { problem } from './problem.ts'
import type { Origin, Problem } from './problem.ts'

const KEYS = ['date', 'providers']
const DATE = /^\d{4}-\d\d-\d\d$/

interface Read {
  readonly date: string
  readonly providers: ReadonlyMap<string, LocatedList>
}

/** A catalogue as data; what is wrong with its form is in `problems`. */
export function readCatalogue(source: LayerSource) {
  const { date, providers, problems } = read(source)
  const lists = [...providers].map(([id, list]) => [id, plain(list, ({ value }) => value)] as const)
  return { date, providers: Object.fromEntries(lists) as Record<string, unknown>, problems }
}

/**
 * What is known of models, by provider. It completes rows of models: a provider without `models` has
 * those of the catalogue, and a model that a layer lists has from it what the layer does not say.
 */
export class Catalogue {
  readonly problems: readonly Problem[]
  readonly #providers: ReadonlyMap<string, LocatedList>

  /** The newest date counts, of the same date the last one. */
  constructor(sources: readonly LayerSource[]) {
    const all = sources.map(read)
    const inOrder = all.toSorted((a, b) => a.date.localeCompare(b.date))
    this.problems = all.flatMap(({ problems }) => problems)
    this.#providers = new Map(inOrder.flatMap(({ providers }) => [...providers]))
  }

  complete(draft: Draft): Draft {
    const providers = draft.config.entries.get('providers')
    if (this.#providers.size === 0 || providers?.type !== 'map') return draft
    if (!draft.id.startsWith('model-')) return draft
    const routes = [...providers.entries].map(
      ([id, route]) => [id, this.#route(id, route)] as const,
    )
    const completed: LocatedMap = { ...providers, entries: new Map(routes) }
    const entries = new Map(draft.config.entries).set('providers', completed)
    return { ...draft, config: { ...draft.config, entries } }
  }

  #route(id: string, route: Located): Located {
    const known = this.#providers.get(id)
    if (known === undefined || route.type !== 'map') return route
    const given = route.entries.get('models')
    const models = given === undefined ? known : completed(given, known)
    return { ...route, entries: new Map(route.entries).set('models', models) }
  }
}

function read(source: LayerSource): Read & { readonly problems: readonly Problem[] } {
  const { entries, problems } = readWhole(source)
  const found = entries[0] ? new Reader(entries[0]) : undefined
  const { date = '', providers = new Map() } = found ?? {}
  return { date, providers, problems: [...problems, ...(found?.problems ?? [])] }
}

class Reader implements Read {
  readonly problems: Problem[] = []
  readonly date: string
  readonly providers: ReadonlyMap<string, LocatedList>

  constructor(top: Located) {
    const entries = top.type === 'map' ? top.entries : new Map<string, Located>()
    this.date = textOf(entries.get('date'))
    this.providers = this.#lists(entries.get('providers'))
    const stray = [...entries.keys()].find((key) => !KEYS.includes(key))
    if (top.type !== 'map') this.#fail(top.origin, `it is ${kindOf(top)}`)
    else if (stray !== undefined) {
      this.#fail(top.origin, `"${stray}" means nothing here`, didYouMean(stray, KEYS))
    } else if (!DATE.test(this.date)) {
      this.#fail(top.origin, 'it has no date such as 2026-11-30')
    } else if (entries.get('providers')?.type !== 'map') {
      this.#fail(top.origin, 'it has no mapping of providers')
    }
  }

  #lists(providers: Located | undefined): Map<string, LocatedList> {
    const lists = new Map<string, LocatedList>()
    if (providers?.type !== 'map') return lists
    for (const [id, list] of providers.entries) {
      if (list.type === 'list') lists.set(id, list)
      else this.#fail(list.origin, `the models of ${id} are no list`)
    }
    return lists
  }

  #fail(origin: Origin, what: string, hint = 'Correct it, or `cordage models update --reset`.') {
    const message = `The file is no catalogue of models: ${what}.`
    this.problems.push(problem('CATALOGUE_INVALID', origin, message, { hint }))
  }
}

function completed(given: Located, known: LocatedList): Located {
  if (given.type !== 'list') return given
  const byId = new Map(known.items.map((item) => [idOf(item), item]))
  const items = given.items.map((item) => {
    const found = byId.get(idOf(item))
    return item.type === 'map' && found?.type === 'map' ? merge(found, item) : item
  })
  return { ...given, items }
}

function idOf(item: Located): string {
  return item.type === 'map' ? textOf(item.entries.get('id')) : ''
}

function textOf(node: Located | undefined): string {
  return node?.type === 'scalar' && typeof node.value === 'string' ? node.value : ''
}
