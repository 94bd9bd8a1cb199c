import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { compose } from '@cordage/core/compose'
import type { AnyPlugin } from '@cordage/core/kernel'
import { pluginContract } from '../../packages/kit/testkit/src/index.ts'
import { expect, it } from 'vitest'
import { repository } from '../e2e/fixture/place.ts'

const sources = globSync(['packages/core/src/*/index.ts', 'packages/*/*/src/index.ts'], {
  cwd: repository,
})

const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }
/** Configs as our bundles give them, by the name of the row's package; all rows are switched on. */
const configs = new Map(
  globSync('bundles/*/cordis.patch.yml', { cwd: repository }).flatMap((path) => {
    const [file, name] = [join(repository, path), basename(dirname(path))]
    const text = readFileSync(file, 'utf8').replaceAll('disabled: true', 'disabled: false')
    const layer = { kind: 'bundle', name, file, text } as const
    const { rows, presets } = compose([layer], { profile: name, env })
    const all = [...rows, ...[...presets.values()].flatMap((preset) => preset.rows)]
    return all.map((row) => [row.name, row.config] as const)
  }),
)

const plugins = new Map<string, AnyPlugin>()
for (const path of sources) {
  const module = (await import(join(repository, path))) as { default?: AnyPlugin }
  if (module.default !== undefined) plugins.set(nameOf(path), module.default)
}
// Only the headless frontend needs one, which a profile has exactly one of.
const providers = Object.fromEntries(
  [...plugins]
    .filter(([name]) => !/store-memory|core\//.test(name))
    .map(([name, one]) => [idOf(name), one]),
)

for (const [name, plugin] of plugins) {
  pluginContract(name, { plugin, config: configs.get(name) ?? {}, rows: providers })
}

it('finds the plugins of every package that is one', () => {
  const packaged = sources.filter((path) => !/^packages\/(core|kit)\/|frontends\/cli/.test(path))
  expect(packaged.map(nameOf).filter((name) => !plugins.has(name))).toEqual([])
  expect(plugins.size).toBeGreaterThan(20)
})

function nameOf(path: string): string {
  const folder = /^packages\/core\/src\/([^/]+)/.exec(path)?.[1]
  if (folder !== undefined) return `@cordage/core/${folder}`
  const manifest = join(repository, dirname(dirname(path)), 'package.json')
  return existsSync(manifest)
    ? (JSON.parse(readFileSync(manifest, 'utf8')) as { name: string }).name
    : path
}

function idOf(name: string): string {
  return name.replace('@cordage/', '')
}
