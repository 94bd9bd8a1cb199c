import {
  adviceOn,
  describeRow,
  dump,
  preflight,
  problemText,
  Reference,
  valueText,
  type Composition,
  type Row,
  type RowDescription,
} from '@cordage/core/compose'
import { didYouMean } from '@cordage/core/error'
import { join } from 'node:path'
import { composeRequestOf } from '../boot/boot.ts'
import { composeProfile, readBundle, type ComposedProfile } from '../boot/layers.ts'
import { createLoader } from '../boot/loader.ts'
import { jsonText, tableText } from '../print/table.ts'
import { cliError } from './errors.ts'
import { bootOptionsOf, type GlobalOptions, type ListOptions } from './options.ts'

const INVALID = 78

/** Prints the composed tree as one layer, references unresolved. */
export async function dumpConfig(options: ListOptions): Promise<number> {
  const { composition } = composed(options)
  if (options.output === 'json') process.stdout.write(jsonText(plain(composition)))
  else process.stdout.write(dump(composition))
  return complain(composition)
}

/** Says for each value of a row which layer and line set it. */
export async function explainRow(id: string, options: ListOptions): Promise<number> {
  const { composition } = composed(options)
  const places = describeRow(composition, id)
  if (places.length === 0) throw unknownRow(id, composition)
  if (options.output === 'json') process.stdout.write(jsonText(places))
  else process.stdout.write(places.map(placeText).join('\n'))
  return complain(composition)
}

/** Imports and checks everything and mounts nothing: what a boot would say before it starts. */
export async function checkConfig(
  options: ListOptions & { readonly bundle?: string },
): Promise<number> {
  const request = composeRequestOf(bootOptionsOf(options))
  const extra = options.bundle === undefined ? [] : [readBundle(options.bundle, request.cwd)]
  const { profile, composition } = composeProfile(request, extra)
  const loader = createLoader(join(request.home, 'profiles', profile.name))
  const prepared = await preflight(composition, loader)
  const rows = [...prepared.rows, ...[...prepared.presets.values()].flat()]
  const refused = rows.flatMap((row) =>
    row.state === 'ready' ? [] : [{ id: row.row.id, state: row.state, reason: row.reason }],
  )
  const frontend = prepared.rows.some(
    (row) => row.state === 'ready' && 'provides' in row.plugin && isFrontend(row.plugin.provides),
  )
  const result = {
    profile: profile.name,
    rows: prepared.rows.length,
    presets: Object.fromEntries([...prepared.presets].map(([name, list]) => [name, list.length])),
    frontend,
    refused,
    notes: [...composition.notes, ...(await adviceOn(prepared))],
    problems: prepared.problems,
  }
  if (options.output === 'json') process.stdout.write(jsonText(result))
  else process.stdout.write(checkText(result))
  return prepared.problems.length === 0 ? 0 : INVALID
}

export interface Checked {
  readonly profile: string
  readonly rows: number
  readonly presets: Readonly<Record<string, number>>
  /** Whether a row provides a way in from the command line. */
  readonly frontend: boolean
  readonly refused: readonly { id: string; state: string; reason: string }[]
  readonly notes: Composition['notes']
  readonly problems: Composition['problems']
}

/** What people read of a check, and below it what the composition is good for. */
export function checkText(checked: Checked): string {
  const { profile, rows, presets, frontend, refused, notes, problems } = checked
  const lines = [
    ...problems.map(problemText),
    ...refused.map(({ id, state, reason }) => `${id}: ${state}: ${reason}`),
    ...notes.map(({ file, line, message }) => `${file}:${line}: ${message}`),
  ]
  const inPresets = Object.entries(presets).map(([name, count]) => `preset ${name}: ${count}`)
  const count = [`${rows} rows`, ...inPresets].join(', ')
  const verdict =
    problems.length === 0
      ? `The profile ${profile} would start: ${count}.`
      : `The profile ${profile} would not start: ${problems.length} to correct.`
  const only = frontend || problems.length > 0 ? [] : ['It has no frontend: only for embedding.']
  return [...lines, verdict, ...only].map((line) => `${line}\n`).join('')
}

function isFrontend(provides: unknown): boolean {
  return Array.isArray(provides) && provides.includes('frontend')
}

function composed(options: GlobalOptions): ComposedProfile {
  return composeProfile(composeRequestOf(bootOptionsOf(options)))
}

function complain({ problems, notes }: Composition): number {
  for (const { file, line, message } of notes) process.stderr.write(`${file}:${line}: ${message}\n`)
  for (const problem of problems) process.stderr.write(`${problemText(problem)}\n`)
  return problems.length === 0 ? 0 : INVALID
}

function unknownRow(id: string, { rows, presets }: Composition): Error {
  const ids = [...rows, ...[...presets.values()].flatMap((preset) => preset.rows)].map(
    (row) => row.id,
  )
  const hint = didYouMean(id, ids) ?? 'See `cordage config dump`.'
  return cliError('USAGE', { reason: `There is no row "${id}". ${hint}` })
}

function placeText({ id, preset, values }: RowDescription): string {
  const where = preset === undefined ? '' : ` in the preset ${preset}`
  const rows = values.map(({ path, value, kind, file, line }) => [
    `  ${path}`,
    value,
    `${kind}: ${file}:${line}`,
  ])
  return `${id}${where}\n${tableText(rows)}`
}

function plain(composition: Composition): unknown {
  return {
    files: composition.files,
    rows: composition.rows.map(rowOf),
    presets: Object.fromEntries(
      [...composition.presets].map(([name, { rows }]) => [name, rows.map(rowOf)]),
    ),
  }
}

function rowOf({ id, name, written, disabled, optional, from }: Row) {
  return { id, name, config: opaque(written), disabled, optional, from }
}

/** References as they were written: a value of the environment is never printed. */
function opaque(value: unknown): unknown {
  if (value instanceof Reference) return valueText(value)
  if (Array.isArray(value)) return value.map(opaque)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, opaque(member)]))
}
