import { Catalogue } from './catalogue.ts'
import { Fold } from './fold.ts'
import type { Draft, Drafts, PresetDraft } from './fold.ts'
import { readLayer } from './layer.ts'
import type { LayerSource } from './layer.ts'
import { pathText, plain, walk } from './located.ts'
import type { Path } from './located.ts'
import { didYouMean } from '../error/index.ts'
import { readOperations } from './operation.ts'
import type { Field } from './operation.ts'
import { inOrder, problem, problemText } from './problem.ts'
import type { Note, Origin, Problem, ProblemCode } from './problem.ts'
import { Reference, resolveReference } from './reference.ts'

export type Config = Record<string, unknown>

/** A row of the composed tree: one plugin and its configuration. */
export interface Row {
  id: string
  /** The package or file of the plugin, resolved from `from`. */
  name: string
  /** With references resolved; as `written` on a disabled row, which needs no environment. */
  config: Config
  /** As written: `!env` and `!path` are opaque `Reference` values. */
  written: Config
  disabled: boolean
  optional: boolean
  /** The file that inserted the row. */
  from: string
  /**
   * Who set what: keys are `name`, `disabled`, `optional`, `config` and paths below it such as
   * `config.providers.deepseek.baseURL` or `config.models[0]`.
   */
  origins: ReadonlyMap<string, Origin>
  /** What keeps the row from starting: environment variables that are not set, above all. */
  blocked: readonly Problem[]
  /** The versions that parts of `config` say they were written for, each with its place. */
  versions: readonly Field<number>[]
}

/** A named list of rows for an agent's own scope, its bases folded in. */
export interface Preset {
  name: string
  extends?: string
  rows: Row[]
  origin: Origin
}

export interface Composition {
  /** The files of the layers, in their order. */
  files: string[]
  rows: Row[]
  presets: Map<string, Preset>
  defaultPreset?: string
  /** The rows that layers took out, each with the place of that. */
  removed: ReadonlyMap<string, Origin>
  problems: Problem[]
  notes: Note[]
}

export interface ComposeOptions {
  profile: string
  /** The profile's default preset, from its package.json. */
  preset?: string | undefined
  env: Readonly<Record<string, string | undefined>>
  /** Ids of rows, and names of presets, that other profiles know. */
  knownRows?: Iterable<string>
}

type Env = ComposeOptions['env']

/**
 * Layers to the composed tree, later layers winning. Pure: no file, no process, no clock; all
 * that is wrong is in `problems`, and a composition with problems is not to be booted.
 */
export function compose(layers: readonly LayerSource[], options: ComposeOptions): Composition {
  const whole = composeAll(layers, options)
  const broken = layers.filter(
    ({ kind, file }) => kind === 'plugin' && whole.problems.some((found) => found.file === file),
  )
  if (broken.length === 0) return whole
  // What is wrong with a plugin's layer costs the plugin: the others compose without it.
  const sound = layers.filter((layer) => !broken.includes(layer))
  const rest = composeAll(sound, options, { incomplete: true })
  rest.rows.push(...broken.map((layer) => brokenPlugin(layer, whole.problems)))
  return rest
}

/** Stands for the rows of a plugin whose layer cannot be used, so that it is named with them. */
function brokenPlugin({ kind, name, file }: LayerSource, problems: readonly Problem[]): Row {
  const origin: Origin = { kind, file, line: 1 }
  const own = problems.filter((found) => found.file === file)
  const id = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
  return {
    id,
    name,
    config: {},
    written: {},
    disabled: false,
    optional: true,
    from: file,
    origins: new Map(['name', 'disabled', 'optional'].map((key) => [key, origin])),
    blocked: own.map((found) => ({ ...found, message: problemText(found) })),
    versions: [],
  }
}

function composeAll(
  layers: readonly LayerSource[],
  options: ComposeOptions,
  { incomplete = false } = {},
): Composition {
  const catalogue = new Catalogue(layers.filter(isCatalogue))
  const read = layers.filter((layer) => !isCatalogue(layer)).map(readLayer)
  const operations = read.map(readOperations)
  const fold = new Fold(
    operations.flatMap((layer) => layer.operations),
    {
      profile: options.profile,
      known: new Set(options.knownRows),
      incomplete: incomplete || read.some((layer) => layer.problems.length > 0),
    },
  )
  const problems = [catalogue, ...read, ...operations].flatMap((part) => part.problems)
  const presets = new PresetFolder(fold, options.env)
  const drafts = [...fold.rows.values()].map((draft) => catalogue.complete(draft))
  const rows = drafts.map((draft) => finish(draft, options.env, problems))
  const files = layers.map((layer) => layer.file)
  const composition: Composition = {
    files,
    rows,
    presets: presets.all(),
    removed: fold.removed,
    problems,
    notes: fold.notes,
  }
  problems.push(...fold.problems, ...presets.problems)
  if (options.preset !== undefined) {
    composition.defaultPreset = options.preset
    problems.push(...checkDefault(options.preset, layers, composition.presets))
  }
  composition.problems = inOrder(problems, files)
  return composition
}

function isCatalogue({ kind }: LayerSource): boolean {
  return kind === 'catalogue'
}

/** The place of the value at `path`, or of the nearest mapping around it. */
export function originOf(row: Row, path: Path): Origin {
  for (let length = path.length; length >= 0; length--) {
    const origin = row.origins.get(pathText(path.slice(0, length)))
    if (origin !== undefined) return origin
  }
  return row.origins.get('name')!
}

/** What is wrong with a row as a whole, at the place that names its plugin. */
export function problemOf(row: Row, code: ProblemCode, message: string, hint?: string): Problem {
  const text = `The row "${row.id}": ${message}`
  return problem(code, row.origins.get('name')!, text, { row: row.id, hint })
}

class PresetFolder {
  readonly problems: Problem[] = []
  readonly #fold: Fold
  readonly #env: Env
  readonly #folded = new Map<string, Drafts>()
  // One draft is one row, however many presets inherit it.
  readonly #rows = new Map<Draft, Row>()

  constructor(fold: Fold, env: Env) {
    this.#fold = fold
    this.#env = env
  }

  all(): Map<string, Preset> {
    const presets = new Map<string, Preset>()
    for (const draft of this.#fold.presets.values()) {
      const rows = [...this.#drafts(draft, []).values()].map((row) => this.#row(row))
      const preset: Preset = { name: draft.name, rows, origin: draft.origin }
      if (draft.extends !== undefined) preset.extends = draft.extends.value
      presets.set(draft.name, preset)
    }
    return presets
  }

  #row(draft: Draft): Row {
    const row = this.#rows.get(draft) ?? finish(draft, this.#env, this.problems)
    this.#rows.set(draft, row)
    return row
  }

  #drafts(preset: PresetDraft, chain: readonly string[]): Drafts {
    const done = this.#folded.get(preset.name)
    if (done !== undefined) return done
    const base = this.#base(preset, [...chain, preset.name])
    // Without its base every patch of the preset would be a problem of its own.
    const rows = base === undefined ? new Map() : this.#fold.foldPreset(preset, base)
    this.#folded.set(preset.name, rows)
    return rows
  }

  #base(preset: PresetDraft, chain: readonly string[]): Drafts | undefined {
    if (preset.extends === undefined) return new Map()
    const { value, origin } = preset.extends
    const base = this.#fold.presets.get(value)
    if (base === undefined) {
      const message = `The preset "${preset.name}" extends "${value}", which does not exist.`
      const hint = didYouMean(value, this.#fold.presets.keys())
      this.problems.push(problem('PRESET_UNKNOWN', origin, message, { hint }))
    } else if (chain.includes(value)) {
      const ring = [...chain.slice(chain.indexOf(value)), value].join(' -> ')
      const message = `Presets extend each other: ${ring}.`
      const hint = 'Remove one "extends".'
      this.problems.push(problem('PRESET_CYCLE', origin, message, { hint }))
    } else return this.#drafts(base, chain)
    return undefined
  }
}

function finish(draft: Draft, env: Env, problems: Problem[]): Row {
  const { id, inserted, name, config, versions, disabled, optional } = draft
  const origins = new Map([
    ['name', name.origin],
    ['disabled', disabled.origin],
    ['optional', optional.origin],
  ])
  walk(config, ['config'], (path, node) => origins.set(pathText(path), node.origin))
  const written = plain(config, (node) => node.value) as Config
  const missing: Problem[] = []
  const resolved = plain(config, ({ value, origin }) => {
    if (!(value instanceof Reference)) return value
    const found = resolveReference(value, env)
    if (found === undefined && !disabled.value) missing.push(unset(id, value, origin))
    return found
  }) as Config
  // What is wrong with an optional row is left to the preflight, which quarantines it.
  if (!optional.value) problems.push(...missing)
  return {
    id,
    name: name.value,
    config: disabled.value ? written : resolved,
    written,
    disabled: disabled.value,
    optional: optional.value,
    from: inserted.file,
    origins,
    blocked: missing,
    versions,
  }
}

function unset(row: string, reference: Reference, origin: Origin): Problem {
  const message = `The row "${row}" needs the environment variable ${reference.text}.`
  const hint = `Set it, write !env "${reference.text} ?? default", or disable the row.`
  return problem('ENV_UNSET', origin, message, { row, hint })
}

function checkDefault(
  name: string,
  layers: readonly LayerSource[],
  presets: ReadonlyMap<string, Preset>,
): Problem[] {
  if (presets.has(name)) return []
  const { kind, file } = layers.find((layer) => layer.kind === 'profile') ??
    layers[0] ?? { kind: 'profile' as const, file: 'package.json' }
  const message = `The profile's default preset "${name}" does not exist.`
  const hint = didYouMean(name, presets.keys())
  return [problem('PRESET_UNKNOWN', { kind, file, line: 1 }, message, { hint })]
}
