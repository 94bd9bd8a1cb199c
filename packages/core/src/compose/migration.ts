import type { AnyPlugin, ConfigMigration } from '../kernel/index.ts'
import { problem } from './problem.ts'
import type { Problem } from './problem.ts'
import type { Row } from './composition.ts'

/** The version of the config that a plugin takes; 1 where it does not say. */
export function configVersionOf(plugin: AnyPlugin): number {
  const version = 'configVersion' in plugin ? plugin.configVersion : undefined
  return typeof version === 'number' ? version : 1
}

/** The migrations that lead from `version` on, oldest first. */
export function migrationsAfter(plugin: AnyPlugin, version: number): [number, ConfigMigration][] {
  const all = 'migrate' in plugin ? (plugin.migrate as Record<number, ConfigMigration>) : {}
  return Object.entries(all ?? {})
    .map(([to, migration]): [number, ConfigMigration] => [Number(to), migration])
    .filter(([to]) => to > version && to <= configVersionOf(plugin))
    .sort(([a], [b]) => a - b)
}

/** What became of the field at the dotted `path`, as a sentence; undefined for one never known. */
export function fateOf(plugin: AnyPlugin, path: string): string | undefined {
  let [now, since] = [path, 0]
  for (const [version, { rename = {}, drop = [] }] of migrationsAfter(plugin, 0)) {
    if (drop.includes(now)) return `It means nothing since version ${version} of this config.`
    const to = rename[now]
    if (to !== undefined) [now, since] = [to, version]
  }
  if (since === 0) return undefined
  const how = '`cordage config migrate` renames it in your own layer.'
  return `It is "${now}" since version ${since} of this config; ${how}`
}

/** A part that was written for another version may mean something else now. */
export function checkVersions(row: Row, plugin: AnyPlugin): Problem[] {
  const current = configVersionOf(plugin)
  return row.versions.flatMap(({ value, origin }) => {
    if (value === current) return []
    const message = `The row "${row.id}" has a config of version ${value}; its plugin takes ${current}.`
    const hint =
      value < current
        ? 'Run `cordage config migrate`, or correct it and say so with "configVersion".'
        : 'Update the plugin, or correct "configVersion".'
    return [problem('CONFIG_OUTDATED', origin, message, { row: row.id, hint })]
  })
}
