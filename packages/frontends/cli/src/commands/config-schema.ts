import { preflight, type PreparedRow, type Row } from '@cordage/core/compose'
import { join } from 'node:path'
import { composeRequestOf } from '../boot/boot.ts'
import { manifestOf } from '../boot/manifest.ts'
import { composeProfile } from '../boot/layers.ts'
import { createLoader } from '../boot/loader.ts'
import { profileNames } from '../boot/profile.ts'
import { jsonText } from '../print/table.ts'
import { bootOptionsOf, type GlobalOptions } from './options.ts'
import { configSchemaOf } from '../schema/config-schema-of.ts'
import { layerSchema, type KnownRow } from '../schema/layer-schema.ts'

/** Prints the JSON schema of a layer, as an editor wants it; mistakes in layers do not stop it. */
export async function printSchema(options: GlobalOptions): Promise<number> {
  const request = composeRequestOf(bootOptionsOf(options))
  const { profile, composition } = composeProfile(request)
  const loader = createLoader(join(request.home, 'profiles', profile.name))
  const prepared = await preflight(composition, loader)
  const rows = new Map<string, KnownRow>()
  for (const row of [...composition.rows, ...presetRows(composition)])
    rows.set(row.id, { id: row.id })
  for (const row of [...prepared.rows, ...[...prepared.presets.values()].flat()]) {
    rows.set(row.row.id, describeRow(row))
  }
  // What another profile knows may stand in a layer of the home.
  for (const name of profileNames()) {
    const other = composeProfile({ ...request, profile: name, safe: true }).composition
    for (const { id } of [...other.rows, ...presetRows(other)]) {
      if (!rows.has(id)) rows.set(id, { id })
    }
  }
  const presets = [...composition.presets.keys()]
  process.stdout.write(jsonText(layerSchema([...rows.values()], presets)))
  return 0
}

function presetRows(composition: { presets: ReadonlyMap<string, { rows: Row[] }> }): Row[] {
  return [...composition.presets.values()].flatMap(({ rows }) => rows)
}

function describeRow({ row, plugin, ...rest }: PreparedRow): KnownRow {
  const file = 'file' in rest ? rest.file : undefined
  const description = file === undefined ? undefined : manifestOf(file)?.description
  const config = plugin === undefined ? undefined : configSchemaOf(plugin)
  return {
    id: row.id,
    ...(description === undefined ? {} : { description: `${row.name}: ${description}` }),
    ...(config === undefined ? {} : { config }),
  }
}
