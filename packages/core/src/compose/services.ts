import type { AnyPlugin } from '../kernel/index.ts'
import { problemOf } from './composition.ts'
import type { Row } from './composition.ts'
import type { Prepared, PreparedRow, ReadyRow } from './prepared.ts'
import type { Problem } from './problem.ts'
import { ServiceGraph, isReady, providesOf } from './service-graph.ts'
import type { Missing } from './service-graph.ts'

type Known = { row: Row; plugin: AnyPlugin | undefined; why: string }

/**
 * Checks, before anything is mounted, that every service a row injects will be there, once.
 * Plain Cordis plugins do not say what they provide: with one of them among the rows, a missing
 * service is left to the boot to find.
 */
export async function checkServices(
  prepared: Omit<Prepared, 'problems'>,
  given: (service: string) => boolean,
  pluginOf: (row: Row) => Promise<AnyPlugin | undefined>,
): Promise<{ rows: PreparedRow[]; problems: Problem[] }> {
  const { rows, problems } = withoutDuplicates(prepared.rows)
  const refused = rows.filter((row) => row.state !== 'ready' && !row.row.optional)
  // What a reported row, or a layer that could not be read, would provide is not missing too.
  const unread = prepared.composition.problems.some(({ code }) => code === 'YAML_INVALID')
  const graph = new ServiceGraph(
    rows.filter(isReady),
    (service) => given(service) || refused.some((row) => mayProvide(row, service)),
    unread,
  )
  problems.push(...graph.cycles())
  const missing = [...graph.missing(), ...missingInPresets(prepared, graph)]
  // Disabled rows are imported only to say who would help.
  const known = missing.length > 0 ? await knownProviders(prepared, rows, pluginOf) : []
  problems.push(...missing.map((found) => missingProblem(found, known)))
  problems.push(...providedInPresets(prepared))
  return { rows, problems }
}

function mayProvide({ plugin }: PreparedRow, service: string): boolean {
  return (plugin && providesOf(plugin)?.includes(service)) ?? true
}

// Of two providers an optional one gives way; two required ones are a problem.
function withoutDuplicates(prepared: readonly PreparedRow[]): {
  rows: PreparedRow[]
  problems: Problem[]
} {
  const problems: Problem[] = []
  const rows = [...prepared]
  const owners = new Map<string, ReadyRow>()
  const giveWay = (loser: ReadyRow, winner: Row, service: string): void => {
    const reason = `ctx.${service} is already provided by the row "${winner.id}".`
    const { row, plugin } = loser
    rows[rows.indexOf(loser)] = { state: 'quarantined', row, plugin, reason }
  }
  for (const next of prepared.filter(isReady)) {
    for (const service of providesOf(next.plugin) ?? []) {
      const owner = owners.get(service)
      if (owner === undefined || !rows.includes(owner)) owners.set(service, next)
      else if (next.row.optional) giveWay(next, owner.row, service)
      else if (owner.row.optional) {
        giveWay(owner, next.row, service)
        owners.set(service, next)
      } else {
        const message = `ctx.${service} is provided by the row "${owner.row.id}" too.`
        problems.push(
          problemOf(next.row, 'SERVICE_DUPLICATE', message, 'Disable one of the two rows.'),
        )
      }
      if (!rows.includes(next)) break
    }
  }
  return { rows, problems }
}

function missingInPresets({ presets }: Pick<Prepared, 'presets'>, graph: ServiceGraph): Missing[] {
  const seen = new Set<Row>()
  return [...presets].flatMap(([preset, rows]) =>
    rows.filter(isReady).flatMap((ready) => {
      // Presets that extend each other share rows; one report is enough.
      if (ready.row.optional || seen.has(ready.row)) return []
      seen.add(ready.row)
      return graph.missingOf(ready).map((found) => ({ ...found, preset }))
    }),
  )
}

function providedInPresets({ presets }: Pick<Prepared, 'presets'>): Problem[] {
  const rows = new Set([...presets.values()].flat().filter(isReady))
  return [...rows].flatMap(({ row, plugin }) => {
    const provides = providesOf(plugin) ?? []
    if (provides.length === 0) return []
    const message = `ctx.${provides.join(', ctx.')} is for everybody, but a preset is for one agent.`
    return [problemOf(row, 'SERVICE_IN_PRESET', message, 'Insert the row outside of presets.')]
  })
}

async function knownProviders(
  { composition, presets }: Omit<Prepared, 'problems'>,
  rows: readonly PreparedRow[],
  pluginOf: (row: Row) => Promise<AnyPlugin | undefined>,
): Promise<Known[]> {
  const refused = [...rows, ...[...presets.values()].flat()].flatMap((prepared): Known[] => {
    if (prepared.state === 'ready') return []
    return [{ row: prepared.row, plugin: prepared.plugin, why: prepared.state }]
  })
  const disabled = composition.rows.filter((row) => row.disabled)
  const loaded = disabled.map(async (row): Promise<Known> => {
    const { file, line } = row.origins.get('disabled')!
    return { row, plugin: await pluginOf(row), why: `disabled at ${file}:${line}` }
  })
  return [...refused, ...(await Promise.all(loaded))]
}

function missingProblem(missing: Missing, known: readonly Known[]): Problem {
  const { row, service, blocked, preset } = missing
  const where = preset === undefined ? '' : ` of the preset "${preset}"`
  const message = `the row${where} needs ctx.${service}, which no enabled row provides.`
  if (blocked !== undefined) {
    const hint = `The row "${blocked.id}" would, but it waits itself and is optional.`
    return problemOf(row, 'SERVICE_MISSING', message, hint)
  }
  const helper = known.find(({ plugin }) => plugin && providesOf(plugin)?.includes(service))
  const hint =
    helper === undefined
      ? 'Add a row that provides it, or disable this one.'
      : `The row "${helper.row.id}" would, but it is ${helper.why}.`
  return problemOf(row, 'SERVICE_MISSING', message, hint)
}
