import satisfies from 'semver/functions/satisfies.js'
import validRange from 'semver/ranges/valid.js'
import { reasonOf, withTimeLimit } from '../kernel/index.ts'
import type { AnyPlugin } from '../kernel/index.ts'
import { problemOf } from './composition.ts'
import type { Composition, Row } from './composition.ts'
import { checkConfig } from './config-check.ts'
import { fail } from './errors.ts'
import type { Loaded, Loader, Prepared, PreparedRow } from './prepared.ts'
import { inOrder } from './problem.ts'
import type { Problem } from './problem.ts'
import { checkServices } from './services.ts'

/** The version of the contracts of `@cordage/core`, which the range `cordage.api` of a plugin meets. */
export const API_VERSION = '1.0.0'

/** Whether this version of the contracts is in a plugin's range. */
export function fitsApi(range: string): boolean {
  return satisfies(API_VERSION, range)
}

export interface PreflightOptions {
  /** Limit for importing a row, and for checking its configuration. */
  timeoutMs?: number
  /** Whether a service is there without any row, as `host` and `presets` are. */
  given?: (service: string) => boolean
}

const GIVEN = new Set(['host', 'presets'])

/**
 * Imports every enabled row, those of presets too, and checks apis, configurations and services.
 * Mounts nothing; never rejects: all that is wrong, composing included, is in `problems`.
 */
export async function preflight(
  composition: Composition,
  loader: Loader,
  { timeoutMs = 10_000, given = (service) => GIVEN.has(service) }: PreflightOptions = {},
): Promise<Prepared> {
  const check = new RowCheck(loader, timeoutMs)
  const enabled = (rows: readonly Row[]): Promise<PreparedRow[]> =>
    Promise.all(rows.filter((row) => !row.disabled).map((row) => check.prepare(row)))
  const rows = await enabled(composition.rows)
  const presets = new Map<string, PreparedRow[]>()
  for (const { name, rows } of composition.presets.values()) presets.set(name, await enabled(rows))
  const prepared = { composition, rows, presets, problems: [] }
  const services = await checkServices(prepared, given, (row) => check.pluginOf(row))
  const problems = [...composition.problems, ...check.problems, ...services.problems]
  return {
    composition,
    rows: services.rows,
    presets,
    problems: inOrder(problems, composition.files),
  }
}

class RowCheck {
  readonly problems: Problem[] = []
  readonly #loader: Loader
  readonly #timeoutMs: number
  readonly #loaded = new Map<string, Promise<Loaded>>()
  // A row that several presets inherit is checked once.
  readonly #prepared = new Map<Row, Promise<PreparedRow>>()

  constructor(loader: Loader, timeoutMs: number) {
    this.#loader = loader
    this.#timeoutMs = timeoutMs
  }

  prepare(row: Row): Promise<PreparedRow> {
    const prepared = this.#prepared.get(row) ?? this.#prepare(row)
    this.#prepared.set(row, prepared)
    return prepared
  }

  /** The plugin of a row that need not be enabled, or undefined where it cannot be had. */
  async pluginOf(row: Row): Promise<AnyPlugin | undefined> {
    try {
      const { plugin } = await this.#load(row)
      return isPlugin(plugin) ? plugin : undefined
    } catch {
      // It was asked for a hint only.
      return undefined
    }
  }

  async #prepare(row: Row): Promise<PreparedRow> {
    // On a required row the composition has reported these.
    if (row.optional && row.blocked.length > 0) return this.#refuse(row, row.blocked)
    const unfit = checkApi(row, this.#declaredApi(row))
    if (unfit !== undefined) return this.#refuse(row, [unfit])
    let loaded: Loaded
    try {
      loaded = await this.#load(row)
    } catch (error) {
      return this.#refuse(row, [loadProblem(row, error)])
    }
    const { plugin, api, file, version } = loaded
    if (!isPlugin(plugin)) return this.#refuse(row, [noPlugin(row, file)])
    const apiProblem = checkApi(row, api)
    if (apiProblem !== undefined) return this.#refuse(row, [apiProblem], plugin)
    const problems = await this.#checkConfig(row, plugin)
    if (problems.length > 0) return this.#refuse(row, problems, plugin)
    return { state: 'ready', row, plugin, file, version }
  }

  #declaredApi({ name, from }: Row): string | undefined {
    try {
      return this.#loader.apiOf?.(name, from)
    } catch {
      // Importing it says what is wrong, in full.
      return undefined
    }
  }

  #load({ id, name, from }: Row): Promise<Loaded> {
    const key = JSON.stringify([name, from])
    const loaded = this.#loaded.get(key) ?? this.#limit(this.#loader.load(name, from), id, 'import')
    this.#loaded.set(key, loaded)
    return loaded
  }

  async #checkConfig(row: Row, plugin: AnyPlugin): Promise<Problem[]> {
    try {
      return await this.#limit(checkConfig(row, plugin), row.id, 'check its config')
    } catch (error) {
      return [problemOf(row, 'CONFIG_INVALID', `${textOf(error)}.`)]
    }
  }

  // What hangs goes on unseen.
  #limit<T>(task: Promise<T>, row: string, what: string): Promise<T> {
    const timeoutMs = this.#timeoutMs
    return withTimeLimit(task, timeoutMs, () =>
      fail('COMPOSE_ROW_TIMEOUT', { row, what, timeoutMs }),
    )
  }

  // What is wrong with an optional row is its reason, with a required one a problem.
  #refuse(row: Row, problems: readonly Problem[], plugin?: AnyPlugin): PreparedRow {
    if (!row.optional) this.problems.push(...problems)
    const state = problems[0]?.code === 'API_INCOMPATIBLE' ? 'skipped' : 'quarantined'
    return { state, row, plugin, reason: problems.map(({ message }) => message).join(' ') }
  }
}

function isPlugin(value: unknown): value is AnyPlugin {
  if (typeof value !== 'function' && (typeof value !== 'object' || value === null)) return false
  const { apply, inject = [], provides = [] } = value as Record<string, unknown>
  // The container takes these as they come and fails in the middle of a boot.
  if (typeof inject !== 'object' || !Array.isArray(provides)) return false
  return typeof value === 'function' || typeof apply === 'function'
}

function loadProblem(row: Row, error: unknown): Problem {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (!code.includes('NOT_FOUND')) {
    return problemOf(row, 'PACKAGE_INVALID', `"${row.name}" cannot be loaded: ${textOf(error)}.`)
  }
  const message = `"${row.name}" is not installed where ${row.from} can see it: ${textOf(error)}.`
  const hint = `Install it, correct the name, or disable the row "${row.id}".`
  return problemOf(row, 'PACKAGE_MISSING', message, hint)
}

function noPlugin(row: Row, file: string): Problem {
  const hint = 'A plugin is the default export, made by definePlugin.'
  return problemOf(row, 'PACKAGE_INVALID', `"${row.name}" (${file}) exports no plugin.`, hint)
}

function checkApi(row: Row, api: string | undefined): Problem | undefined {
  if (api === undefined || fitsApi(api)) return undefined
  const range = validRange(api) === null ? `the api range "${api}", which is none` : `api ${api}`
  const message = `"${row.name}" asks for ${range}; @cordage/core has api ${API_VERSION}.`
  return problemOf(row, 'API_INCOMPATIBLE', message, 'Install a version of the plugin that fits.')
}

function textOf(error: unknown): string {
  return reasonOf(error).split('\n')[0]!.replace(/\.$/, '')
}
