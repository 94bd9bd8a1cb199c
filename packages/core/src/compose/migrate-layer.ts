import { isMap, isScalar, isSeq, parseDocument, YAMLMap } from 'yaml'
import type { Document, Pair, Scalar } from 'yaml'
import type { AnyPlugin, ConfigMigration } from '../kernel/index.ts'
import { configVersionOf, migrationsAfter } from './migration.ts'

export interface MigratedLayer {
  /** The layer with every comment, or the text as it was where nothing changes. */
  text: string
  /** What changed, each as a line for a person. */
  changes: string[]
  /** What has to be done by hand, and why. */
  left: string[]
}

/**
 * Brings the configs of a layer to the versions that their plugins take. A part that does not say
 * its version is old where it names a field that was renamed or dropped.
 */
export function migrateLayer(
  text: string,
  pluginOf: (row: string) => AnyPlugin | undefined,
): MigratedLayer {
  // Unknown tags are kept as they are; a layer that is no YAML has been refused before.
  const document = parseDocument(text, { logLevel: 'silent' })
  const report: Report = { changes: [], left: [] }
  for (const row of rowsOf(document)) {
    const id = String(row.get('id'))
    const plugin = pluginOf(id)
    if (plugin !== undefined) migrateRow(row, plugin, { id, report })
  }
  const changed = report.changes.length > 0
  return { text: changed ? document.toString({ lineWidth: 0 }) : text, ...report }
}

type Report = Pick<MigratedLayer, 'changes' | 'left'>

interface Place {
  readonly id: string
  readonly report: Report
}

/** The mappings that have an id: operations, and rows inside of `insert` and of presets. */
function rowsOf({ contents }: Document): YAMLMap[] {
  const maps = isSeq(contents) ? contents.items.filter((item) => isMap(item)) : []
  const inner = maps.flatMap((map) =>
    ['insert', 'rows'].flatMap((key) => {
      const list = map.get(key)
      return isSeq(list) ? list.items.filter((item) => isMap(item)) : []
    }),
  )
  return [...maps, ...inner].filter((map) => map.has('id'))
}

function migrateRow(row: YAMLMap, plugin: AnyPlugin, place: Place): void {
  const config = row.get('config') ?? row.get('merge')
  if (!isMap(config)) return
  const current = configVersionOf(plugin)
  const said = row.get('configVersion')
  const from = typeof said === 'number' ? said : undefined
  const before = place.report.changes.length
  for (const [, migration] of migrationsAfter(plugin, from ?? 0)) {
    apply(config, migration, from !== undefined, place)
  }
  const moved = place.report.changes.length > before
  if (from === undefined ? !moved : from >= current) return
  row.set('configVersion', current)
  if (!moved) place.report.changes.push(`${place.id}: configVersion ${current}`)
}

function apply(
  config: YAMLMap,
  { rename = {}, drop = [], convert = {} }: ConfigMigration,
  isOld: boolean,
  { id, report }: Place,
): void {
  for (const path of drop) {
    if (take(config, path) !== undefined) report.changes.push(`${id}: ${path} is gone`)
  }
  const renamed = Object.entries(rename).filter(([from, to]) => {
    if (find(config, from) === undefined) return false
    if (find(config, to) !== undefined) {
      report.left.push(`${id}: both ${from} and ${to} are there; keep one`)
      return false
    }
    move(config, from, to)
    report.changes.push(`${id}: ${from} is ${to}`)
    return true
  })
  const fresh = new Set(renamed.map(([, to]) => to))
  for (const [path, change] of Object.entries(convert)) {
    const pair = fresh.has(path) || isOld ? find(config, path) : undefined
    if (pair !== undefined) convertValue(pair, path, change, { id, report })
  }
}

function convertValue(
  pair: Pair,
  path: string,
  change: (value: unknown) => unknown,
  { id, report }: Place,
): void {
  const { value } = pair
  // A reference stands for a value that is not here, and null takes one away.
  if (!isScalar(value) || value.tag?.startsWith('!') || value.value === null) {
    if (!isScalar(value) || value.value !== null)
      report.left.push(`${id}: convert ${path} yourself`)
    return
  }
  const [old, fresh] = [value.value, change(value.value)]
  value.value = fresh
  // Otherwise a number would be written as it was read.
  delete (value as Scalar & { source?: string }).source
  report.changes.push(`${id}: ${path} is ${JSON.stringify(fresh)}, was ${JSON.stringify(old)}`)
}

function find(config: YAMLMap, path: string): Pair | undefined {
  const [parent, key] = parentOf(config, path.split('.'))
  return parent?.items.find((pair) => keyOf(pair) === key)
}

function take(config: YAMLMap, path: string): Pair | undefined {
  const [parent, key] = parentOf(config, path.split('.'))
  const at = parent?.items.findIndex((pair) => keyOf(pair) === key) ?? -1
  return at < 0 ? undefined : parent?.items.splice(at, 1)[0]
}

/** The pair itself moves, since comments hang on its parts. */
function move(config: YAMLMap, from: string, to: string): void {
  const owner = from.split('.').slice(0, -1)
  const target = to.split('.').slice(0, -1)
  const pair = find(config, from)!
  if (isScalar(pair.key)) pair.key.value = to.split('.').at(-1)
  if (owner.join('.') === target.join('.')) return
  const old = mapAt(config, owner)!
  old.items.splice(old.items.indexOf(pair), 1)
  if (old !== config && old.items.length === 0) config.deleteIn(owner)
  if (mapAt(config, target) === undefined) config.setIn(target, new YAMLMap(config.schema))
  mapAt(config, target)!.items.push(pair)
}

type Keys = readonly string[]

function parentOf(config: YAMLMap, path: Keys): [YAMLMap | undefined, string] {
  return [mapAt(config, path.slice(0, -1)), path.at(-1)!]
}

function mapAt(config: YAMLMap, path: Keys): YAMLMap | undefined {
  const node = path.length === 0 ? config : config.getIn(path)
  return isMap(node) ? node : undefined
}

function keyOf({ key }: Pair): string {
  return isScalar(key) ? String(key.value) : ''
}
