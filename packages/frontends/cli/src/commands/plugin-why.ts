import { preflight, type PreparedRow, type Row } from '@cordage/core/compose'
import { didYouMean } from '@cordage/core/error'
import type { AnyPlugin } from '@cordage/core/kernel'
import { composeProfile } from '../boot/layers.ts'
import { createLoader } from '../boot/loader.ts'
import { harmless, jsonText } from '../print/table.ts'
import { cliError } from './errors.ts'
import type { ListOptions } from './options.ts'
import { pluginPlaceOf } from './plugin.ts'

interface Reason {
  readonly row: string
  readonly preset?: string
  /** `plugin @acme/weather`, `bundle @cordage/bundle-base`, `home`. */
  readonly broughtBy: string
  readonly file: string
  readonly line: number
  readonly state: string
  readonly provides: readonly { service: string; neededBy: readonly string[] }[]
  readonly needs: readonly { service: string; from: string }[]
}

/** Why a row is there: who brought it, and who would miss it. */
export async function explainPresence(id: string, options: ListOptions): Promise<number> {
  const { request, folder } = pluginPlaceOf(options)
  const { composition, layers } = composeProfile(request)
  const { rows, presets } = await preflight(composition, createLoader(folder))
  const all = [...rows, ...new Set([...presets.values()].flat())]
  const listed = [...composition.rows, ...new Set(inPresets(composition.presets.values()))]
  const found = listed.filter((row) => row.id === id)
  if (found.length === 0) {
    const hint =
      didYouMean(
        id,
        listed.map((row) => row.id),
      ) ?? 'See `cordage config dump`.'
    throw cliError('USAGE', { reason: `There is no row "${id}". ${hint}` })
  }
  const nameOf = (file: string) => {
    const layer = layers.find((one) => one.file === file)
    return layer === undefined ? file : layerName(layer)
  }
  const reasons = found.map((row): Reason => {
    const prepared = all.find((one) => one.row === row)
    const preset = [...composition.presets.values()].find((one) => one.rows.includes(row))?.name
    return {
      ...reasonOf(row, prepared, all),
      ...(preset && { preset }),
      broughtBy: nameOf(row.from),
    }
  })
  process.stdout.write(
    options.output === 'json' ? jsonText(reasons) : harmless(reasons.map(reasonText).join('\n')),
  )
  return 0
}

function inPresets(presets: Iterable<{ rows: Row[] }>): Row[] {
  return [...presets].flatMap((preset) => preset.rows)
}

function layerName({ kind, name }: { kind: string; name: string }): string {
  return kind === name ? `the ${kind} layer` : `the ${kind} ${name}`
}

function reasonOf(row: Row, prepared: PreparedRow | undefined, all: readonly PreparedRow[]) {
  const { file, line } = row.origins.get('name')!
  const plugin = prepared?.plugin
  const provides = declared(plugin, 'provides').map((service) => ({
    service,
    neededBy: all.filter((one) => declared(one.plugin, 'inject').includes(service)).map(idOf),
  }))
  const needs = declared(plugin, 'inject').map((service) => {
    const provider = all.find((one) => declared(one.plugin, 'provides').includes(service))
    return { service, from: provider?.row.id ?? 'whoever starts Cordage' }
  })
  const state = row.disabled ? disabledText(row) : stateText(prepared)
  return { row: row.id, file, line, state, provides, needs }
}

function declared(plugin: AnyPlugin | undefined, key: 'provides' | 'inject'): string[] {
  const value = (plugin as Record<string, unknown> | undefined)?.[key] ?? []
  return Array.isArray(value) ? value.map(String) : Object.keys(value as object)
}

function idOf({ row }: PreparedRow): string {
  return row.id
}

function disabledText(row: Row): string {
  const { file, line } = row.origins.get('disabled')!
  return `disabled at ${file}:${line}`
}

function stateText(prepared: PreparedRow | undefined): string {
  if (prepared === undefined || prepared.state === 'ready') return 'ready'
  return `${prepared.state}: ${prepared.reason}`
}

function reasonText(reason: Reason): string {
  const { row, preset, broughtBy, file, line, state, provides, needs } = reason
  const where = preset === undefined ? '' : ` in the preset ${preset}`
  const users = provides.flatMap(({ neededBy }) => neededBy)
  const lines = [
    `${row}${where} is ${state}.`,
    `  brought by ${broughtBy}, ${file}:${line}`,
    ...needs.map(({ service, from }) => `  needs ctx.${service} of ${from}`),
    ...provides.map(({ service, neededBy }) => {
      return `  provides ctx.${service}, needed by ${neededBy.join(', ') || 'no other row'}`
    }),
    users.length === 0 ? '  no other row needs it' : '  without it those rows do not start',
  ]
  return lines.map((text) => `${text}\n`).join('')
}
