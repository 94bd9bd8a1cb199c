import { realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  migrateLayer,
  preflight,
  problemText,
  type LayerSource,
  type Prepared,
} from '@cordage/core/compose'
import type { AnyPlugin } from '@cordage/core/kernel'
import { composeProfile, LAYER_FILE } from '../boot/layers.ts'
import { createLoader } from '../boot/loader.ts'
import { pluginError } from '../plugin/errors.ts'
import { pluginPlaceOf, type PluginChangeOptions } from './plugin.ts'

/** Brings the home's layer to the configs that plugins take today; comments stay. */
export async function migrateConfig(options: PluginChangeOptions): Promise<number> {
  const { request, folder } = pluginPlaceOf(options)
  const before = composeProfile(request)
  const home = before.layers.find(({ kind }) => kind === 'home')
  if (home === undefined) {
    process.stdout.write(`There is no ${join(request.home, LAYER_FILE)}; nothing to migrate.\n`)
    return 0
  }
  const loader = createLoader(folder)
  const prepared = await preflight(before.composition, loader)
  const { text, changes, left } = migrateLayer(home.text, pluginsOf(prepared))
  for (const line of left) process.stderr.write(`by hand: ${line}\n`)
  if (changes.length === 0) {
    process.stdout.write(`${home.file} is up to date.\n`)
    return left.length === 0 ? 0 : 1
  }
  const migrated = composeProfile({ ...request, homeText: text })
  const after = await preflight(migrated.composition, loader)
  assertBetter(home, after)
  if (!options.dryRun) write(home.file, text)
  const verb = options.dryRun ? 'would be' : 'is'
  process.stdout.write(changes.map((line) => `${line}\n`).join(''))
  process.stdout.write(`${home.file} ${verb} migrated.\n`)
  return 0
}

function pluginsOf({ rows, presets }: Prepared): (row: string) => AnyPlugin | undefined {
  const all = [...rows, ...[...presets.values()].flat()]
  return (id) => all.find(({ row, plugin }) => row.id === id && plugin !== undefined)?.plugin
}

/** What other layers have wrong is no reason against a better home. */
function assertBetter({ file }: LayerSource, { problems }: Pick<Prepared, 'problems'>): void {
  const own = problems.filter((found) => found.file === file)
  if (own.length === 0) return
  throw pluginError('MIGRATION_REJECTED', { file, reason: own.map(problemText).join(' ') })
}

/** Whole or not at all: whoever reads meanwhile sees the old text. */
function write(file: string, text: string): void {
  const target = realpathSync(file)
  const fresh = `${target}.${process.pid}`
  try {
    writeFileSync(fresh, text, { mode: statSync(target).mode })
    renameSync(fresh, target)
  } finally {
    rmSync(fresh, { force: true })
  }
}
