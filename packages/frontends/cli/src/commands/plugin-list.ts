import type { Composition, Loader, Row, RowReport } from '@cordage/core/compose'
import { withTimeLimit } from '@cordage/core/kernel'
import type { Harness } from '../boot/boot.ts'
import { composeProfile } from '../boot/layers.ts'
import { createLoader } from '../boot/loader.ts'
import { COUNTED_SESSIONS, measureAgent, measureLogs } from '../plugin/cost.ts'
import { installedPlugins, pluginLayers } from '../plugin/installed.ts'
import { harmless, jsonText, tableText } from '../print/table.ts'
import { cliError } from './errors.ts'
import type { ListOptions } from './options.ts'
import { pluginPlaceOf, type PluginPlace } from './plugin.ts'
import { withHarness } from './with-harness.ts'

interface PluginLine {
  readonly name: string
  readonly version: string
  /** `active`, or the state of the first row that is not. */
  readonly state: string
  readonly reason?: string
  readonly folder: string
  readonly uses: readonly string[]
  readonly rows: readonly string[]
  /** To import and to start what is there from the beginning, in milliseconds. */
  readonly bootMs: number
  /** Estimated, of every request. */
  readonly promptTokens: number
  /** In the latest sessions. */
  readonly logBytes: number
}

/** Which plugins a profile has, how they are, and what they cost. */
export async function listPlugins(options: ListOptions): Promise<number> {
  const place = pluginPlaceOf(options)
  if (installedPlugins(place.folder).length === 0) {
    const hint = 'Add one: cordage plugin add <name, tarball or folder>'
    if (options.output === 'json') process.stdout.write(jsonText([]))
    else process.stderr.write(`The profile ${place.profile} has no plugins. ${hint}\n`)
    return 0
  }
  const imports = await timeImports(filesOf(place), place)
  return withHarness(options, async (harness) => {
    const lines = await measure(harness, place, imports)
    const text = () => tableText([HEAD, ...lines.map(cells)])
    process.stdout.write(options.output === 'json' ? jsonText(lines) : text())
    for (const { name, state, reason } of lines) {
      const why = reason === undefined ? '' : `: ${reason}`
      if (state !== 'active') process.stderr.write(harmless(`${name} is ${state}${why}\n`))
    }
    return 0
  })
}

const IMPORT_LIMIT_MS = 5_000

const HEAD = [
  'PLUGIN',
  'VERSION',
  'STATE',
  'BOOT',
  'PROMPT',
  `LOG (${COUNTED_SESSIONS} SESSIONS)`,
  'USES',
]

async function measure(
  harness: Harness,
  place: PluginPlace,
  imports: readonly number[],
): Promise<PluginLine[]> {
  const agent = await measureAgent(harness.ctx, harness.host)
  const files = filesOf(place)
  const plugins = installedPlugins(place.folder).map((plugin, i) => {
    const rows = rowsFrom(harness.composition, files[i] ?? '')
    return { plugin, ids: new Set(rows.map(({ id }) => id)) }
  })
  const toolsOf = (ids: ReadonlySet<string>) =>
    new Set([...agent.tools].flatMap(([tool, row]) => (ids.has(row) ? [tool] : [])))
  const store = harness.ctx.get('store')
  const named = new Map(plugins.map(({ plugin, ids }) => [plugin.name, toolsOf(ids)]))
  const bytes = store ? await measureLogs(store, named) : new Map<string, number>()
  const lines: PluginLine[] = []
  for (const [i, { plugin, ids }] of plugins.entries()) {
    const reports = [...harness.report(), ...agent.reports].filter(({ id }) => ids.has(id))
    lines.push({
      name: plugin.name,
      version: plugin.manifest?.version ?? 'none',
      ...(agent.failing && ids.has(agent.failing.id)
        ? { state: 'failing', reason: agent.failing.reason }
        : stateOf(reports, whyNoRows(harness.composition, files[i] ?? ''))),
      folder: plugin.folder,
      uses: plugin.manifest?.cordage?.uses ?? [],
      rows: [...ids],
      bootMs: (imports[i] ?? 0) + reports.reduce((sum, { ms }) => sum + ms, 0),
      promptTokens: [...ids].reduce((sum, id) => sum + (agent.tokens.get(id) ?? 0), 0),
      logBytes: bytes.get(plugin.name) ?? 0,
    })
  }
  return lines
}

function filesOf({ folder }: PluginPlace): string[] {
  return pluginLayers(folder).map(({ file }) => file)
}

function rowsFrom(composition: Composition, file: string): Row[] {
  const all = [...composition.rows, ...inPresets(composition)]
  return [...new Set(all.filter((row) => row.from === file))]
}

function inPresets({ presets }: Composition): Row[] {
  return [...presets.values()].flatMap((preset) => preset.rows)
}

/**
 * Milliseconds that each plugin's imports take when everything else is in memory, as it would be
 * without them: so it is asked before the boot, and after the rows of the others.
 */
async function timeImports(files: readonly string[], place: PluginPlace): Promise<number[]> {
  const { composition } = composeProfile(place.request)
  const loader = createLoader(place.folder)
  const all = [...composition.rows, ...inPresets(composition)].filter((row) => !row.disabled)
  await importAll(
    all.filter((row) => !files.includes(row.from)),
    loader,
  )
  const times: number[] = []
  for (const file of files) {
    const started = performance.now()
    await importAll(
      all.filter((row) => row.from === file),
      loader,
    )
    times.push(performance.now() - started)
  }
  return times
}

async function importAll(rows: readonly Row[], loader: Loader): Promise<void> {
  for (const { id, name, from } of rows) {
    const late = () => cliError('USAGE', { reason: `The row ${id} does not load.` })
    try {
      await withTimeLimit(loader.load(name, from), IMPORT_LIMIT_MS, late)
    } catch {
      // Its state says what is wrong with it.
    }
  }
}

function stateOf(
  reports: readonly RowReport[],
  whyNoRows: string,
): { state: string; reason?: string } {
  const bad = reports.find(({ state }) => state !== 'active')
  if (bad !== undefined) {
    return { state: bad.state, ...(bad.reason === undefined ? {} : { reason: bad.reason }) }
  }
  return reports.length > 0 ? { state: 'active' } : { state: 'in no use here', reason: whyNoRows }
}

function whyNoRows(composition: Composition, file: string): string {
  const all = [...composition.rows, ...inPresets(composition)]
  if (all.some((row) => row.from === file)) {
    return `its rows are in no preset that the profile's agents get`
  }
  const changed = all.filter(({ origins }) => [...origins.values()].some((o) => o.file === file))
  const ids = [...new Set(changed.map(({ id }) => id))].join(', ')
  return ids === '' ? 'it brings no rows' : `it brings no rows and changes ${ids}`
}

function cells(line: PluginLine): string[] {
  return [
    line.name,
    line.version,
    line.state,
    `${line.bootMs.toFixed(1)} ms`,
    `~${line.promptTokens} tokens`,
    `${line.logBytes} bytes`,
    line.uses.join(', ') || 'nothing',
  ]
}
