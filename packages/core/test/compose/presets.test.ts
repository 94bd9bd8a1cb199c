import { afterEach, describe, expect, test } from 'vitest'
import { createComposer, problemsOf } from '../../src/compose/index.ts'
import type { Composer } from '../../src/compose/index.ts'
import {
  createRegistry,
  createRoot,
  definePlugin,
  footprint,
  openScope,
} from '../../src/kernel/index.ts'
import { composed } from './layers.ts'
import { loaderOf, traced } from './plugins.ts'
import type { Trail } from './plugins.ts'

const registry = createRegistry<string>('compose-test')
const open: Composer[] = []

afterEach(async () => {
  await Promise.all(open.splice(0).map((composer) => composer.close()))
})

async function start(bundle: string, plugins: Record<string, unknown>, preset?: string) {
  const root = createRoot({ log: () => {} })
  const composer = createComposer(root, loaderOf(plugins), { rowTimeoutMs: 1000 })
  open.push(composer)
  await composer.apply(composed({ bundle }, { preset }))
  return { root, composer, presets: root.get('presets')! }
}

const tool = (id: string) =>
  definePlugin({ name: id, apply: (ctx) => void registry.add(ctx, id, `tool ${id}`) })

const BUNDLE = `- preset: standard
  rows: [{ id: read, name: read }, { id: write, name: write }]
- preset: reviewer
  extends: standard
  rows: [{ id: write, disabled: true }]
`

describe('ctx.presets', () => {
  test('mounts a preset in one scope until it closes', async () => {
    const { root, presets } = await start(BUNDLE, { read: tool('read'), write: tool('write') })
    const before = footprint(root)
    const [one, two] = [openScope(root, 'one'), openScope(root, 'two')]
    const { rows } = await presets.mount(one, 'standard')
    await presets.mount(two, 'reviewer')
    expect(rows.map(({ id, state }) => [id, state])).toEqual([
      ['read', 'active'],
      ['write', 'active'],
    ])
    expect(registry.list(one).map(({ id, row }) => [id, row])).toEqual([
      ['read', 'read'],
      ['write', 'write'],
    ])
    expect(registry.list(two).map(({ id }) => id)).toEqual(['read'])
    await Promise.all([one.close(), two.close()])
    expect(registry.list(one)).toEqual([])
    expect(footprint(root)).toEqual(before)
  })

  test('knows its names, its default and each row with the lines that made it', async () => {
    const plugins = { read: tool('read'), write: tool('write') }
    const { presets } = await start(BUNDLE, plugins)
    expect(presets.names()).toEqual(['standard', 'reviewer'])
    expect(presets.default).toBe('standard')
    expect((await start(BUNDLE, plugins, 'reviewer')).presets.default).toBe('reviewer')
    expect((await start('', {})).presets.default).toBe('')
    const write = presets.describe('reviewer')[1]!
    expect(write).toMatchObject({ id: 'write', disabled: true, preset: 'reviewer' })
    expect(write.values.find(({ path }) => path === 'disabled')).toMatchObject({ line: 5 })
  })

  test('refuses a preset that is not known', async () => {
    const { root, presets } = await start(BUNDLE, { read: tool('read'), write: tool('write') })
    const scope = openScope(root, 'agent')
    await expect(presets.mount(scope, 'standart')).rejects.toMatchObject({
      code: 'COMPOSE_PRESET_UNKNOWN',
      message: expect.stringContaining('Did you mean standard?'),
    })
    await scope.close()
  })

  test('quarantines a failing optional row and gives all back for a required one', async () => {
    const trail: Trail = []
    const boom = { name: 'boom', apply: () => Promise.reject(new Error('boom')) }
    const bundle = `- preset: soft
  rows: [{ id: fine, name: fine }, { id: boom, name: boom, optional: true }]
- preset: hard
  extends: soft
  rows: [{ id: boom, optional: false }]
`
    const { root, presets } = await start(bundle, { fine: traced(trail, 'fine'), boom })
    const scope = openScope(root, 'agent')
    const { rows } = await presets.mount(scope, 'soft')
    expect(rows).toMatchObject([
      { id: 'fine', state: 'active' },
      { id: 'boom', state: 'quarantined', reason: 'boom: boom' },
    ])
    trail.length = 0
    const error = await presets.mount(openScope(root, 'other'), 'hard').catch((e: unknown) => e)
    expect(problemsOf(error)).toMatchObject([{ row: 'boom', line: 2, code: 'ROW_FAILED' }])
    expect(trail).toEqual(['fine+', 'fine-'])
    await scope.close()
  })

  test('loads nothing again when it mounts: modules and configs were checked once', async () => {
    const loaded: string[] = []
    const loader = loaderOf({ read: tool('read'), write: tool('write') })
    const root = createRoot({ log: () => {} })
    const counting = {
      load: (name: string, from: string) => {
        loaded.push(name)
        return loader.load(name, from)
      },
    }
    const composer = createComposer(root, counting, { rowTimeoutMs: 1000 })
    open.push(composer)
    await composer.apply(composed({ bundle: BUNDLE }, {}))
    expect(loaded.toSorted()).toEqual(['read', 'write'])
    for (const label of ['one', 'two', 'three']) {
      const scope = openScope(root, label)
      await root.get('presets')!.mount(scope, 'standard')
      await scope.close()
    }
    expect(loaded).toHaveLength(2)
  })
})
