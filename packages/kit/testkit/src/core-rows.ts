import agents from '@cordage/core/agent'
import commands from '@cordage/core/command'
import { compose, createComposer, type Composer, type Composition } from '@cordage/core/compose'
import compaction from '@cordage/core/compaction'
import credentials from '@cordage/core/credential'
import {
  createRoot,
  definePlugin,
  mount,
  own,
  type AnyPlugin,
  type RootContext,
} from '@cordage/core/kernel'
import job from '@cordage/core/job'
import ledger from '@cordage/core/ledger'
import loop from '@cordage/core/loop'
import models from '@cordage/core/model'
import policy from '@cordage/core/policy'
import prompt from '@cordage/core/prompt'
import sessions from '@cordage/core/store'
import tools from '@cordage/core/tool'
import environment from '@cordage/env-local'
import store from '@cordage/store-memory'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The services that every profile has, with a store in memory; by the id of their row. */
export const coreRows: Readonly<Record<string, AnyPlugin>> = {
  'core-session': sessions,
  'core-model': models,
  'core-prompt': prompt,
  'core-policy': policy,
  'core-credential': credentials,
  'core-job': job,
  'core-ledger': ledger,
  'core-tool': tools,
  'core-command': commands,
  'core-agent': agents,
  'core-loop': loop,
  'core-compaction': compaction,
  'store-memory': store,
  'env-local': environment,
}

export interface BenchRow {
  readonly plugin: AnyPlugin
  readonly config?: Readonly<Record<string, unknown>>
  readonly optional?: boolean
}

/** Rows on a fresh root, mounted by the composer that boots profiles. */
export interface RowBench extends AsyncDisposable {
  readonly root: RootContext
  readonly composer: Composer
  /** Makes these rows the ones that run. Throws `COMPOSE_REJECTED`. */
  apply(rows: Readonly<Record<string, BenchRow>>): Promise<void>
}

export async function openRowBench(): Promise<RowBench> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'cordage-bench-')))
  const root = createRoot({ log: () => {} })
  const host = mount(root, { id: 'host', plugin: hostAt(home), config: {}, timeoutMs: 5_000 })
  await host.settled()
  let plugins: Readonly<Record<string, BenchRow>> = {}
  const load = async (name: string) => ({ plugin: plugins[name]?.plugin, file: name })
  const composer = createComposer(root, { load }, { rowTimeoutMs: 5_000 })
  return {
    root,
    composer,
    apply: async (rows) => {
      plugins = rows
      await composer.apply(compositionOf(rows))
    },
    [Symbol.asyncDispose]: async () => {
      await composer.close()
      await host.dispose()
      await rm(home, { recursive: true, force: true })
    },
  }
}

/** What `plugin` needs to start, transitively: of `more` where that provides it, else of core. */
export function rowsNeededBy(
  plugin: AnyPlugin,
  more: Readonly<Record<string, AnyPlugin>> = {},
): Record<string, BenchRow> {
  const own = servicesOf(plugin, 'provides')
  const known = Object.entries({ ...more, ...coreRows }).filter(
    ([, row]) => !servicesOf(row, 'provides').some((service) => own.includes(service)),
  )
  const needed: Record<string, BenchRow> = {}
  const add = (services: readonly string[]) => {
    for (const service of services) {
      const found = known.find(([, row]) => servicesOf(row, 'provides').includes(service))
      if (found === undefined || needed[found[0]] !== undefined) continue
      needed[found[0]] = { plugin: found[1] }
      add(servicesOf(found[1], 'inject'))
    }
  }
  add(servicesOf(plugin, 'inject'))
  return needed
}

/** What a plugin declares; none where it is a plain Cordis plugin that does not say. */
export function servicesOf(plugin: AnyPlugin, key: 'provides' | 'inject'): string[] {
  const value = Object.entries(plugin).find(([name]) => name === key)?.[1] ?? []
  return Array.isArray(value) ? value.map(String) : Object.keys(value as object)
}

function compositionOf(rows: Readonly<Record<string, BenchRow>>): Composition {
  const insert = Object.entries(rows).map(([id, { config = {}, optional = false }]) => {
    return { id, name: id, config, optional }
  })
  // JSON is YAML, so that rows go through the whole reading that a person's layer does.
  const text = JSON.stringify([{ insert }])
  const layer = { kind: 'bundle', name: 'bench', file: '/bench/cordis.patch.yml', text } as const
  return compose([layer], { profile: 'bench', env: {} })
}

function hostAt(home: string): AnyPlugin {
  const env = { PATH: process.env['PATH'] }
  return definePlugin({
    name: 'host',
    provides: ['host'],
    apply: (ctx) => own(ctx, 'host', { env, home, cwd: home, version: '0.0.0' }),
  })
}
