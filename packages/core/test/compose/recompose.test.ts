import { afterEach, describe, expect, test } from 'vitest'
import { createComposer, problemsOf } from '../../src/compose/index.ts'
import type { Change, Composer, Composition } from '../../src/compose/index.ts'
import { createRegistry, createRoot, definePlugin, openScope, own } from '../../src/kernel/index.ts'
import { composed } from './layers.ts'
import { loaderOf, rowsOf, traced } from './plugins.ts'
import type { Trail } from './plugins.ts'

const names = createRegistry<string>('recompose-test')
const open: Composer[] = []

afterEach(async () => {
  await Promise.all(open.splice(0).map((composer) => composer.close()))
})

function start(plugins: Record<string, unknown>) {
  const root = createRoot({ log: () => {} })
  const composer = createComposer(root, loaderOf(plugins), { rowTimeoutMs: 1000 })
  open.push(composer)
  return { root, composer }
}

async function problemsIn(composer: Composer, composition: Composition) {
  const error = await composer.apply(composition).catch((reason: unknown) => reason)
  return problemsOf(error).map(({ code, row, message }) => ({ code, row, message }))
}

const states = (composer: Composer) =>
  Object.fromEntries(composer.report().map(({ id, state }) => [id, state]))

/** A plugin that registers the name `shared`, which only one row at a time can have. */
const holder = (trail: Trail, label: string) =>
  definePlugin({
    name: label,
    apply(ctx) {
      names.add(ctx, 'shared', label)
      trail.push(`${label}+`)
      ctx.effect(() => () => trail.push(`${label}-`))
    },
  })

describe('the difference', () => {
  test('names what was added, changed, removed, restarted and kept', async () => {
    const trail: Trail = []
    const plugins = {
      maker: { ...traced(trail, 'maker', { provides: ['composeA'] }), Config: undefined },
      user: traced(trail, 'user', { inject: ['composeA'] }),
      other: traced(trail, 'other'),
      old: traced(trail, 'old'),
      fresh: traced(trail, 'fresh'),
    }
    const { composer } = start(plugins)
    expect(await composer.apply(rowsOf('maker', 'user', 'other', 'old'))).toMatchObject({
      added: ['maker', 'user', 'other', 'old'],
      kept: [],
    })
    trail.length = 0
    const changed = '{ id: maker, name: maker, config: { url: file } }'
    expect(await composer.apply(rowsOf(changed, 'user', 'other', 'fresh'))).toEqual({
      added: ['fresh'],
      changed: ['maker'],
      removed: ['old'],
      restarted: ['user'],
      kept: ['other'],
      presets: [],
      refused: [],
    } satisfies Change)
    expect(trail).toEqual(['maker-', 'user-', 'maker+', 'user+', 'fresh+', 'old-'])
  })

  test('is nothing for the same rows in another order, on other lines, newly optional', async () => {
    const trail: Trail = []
    const { composer } = start({ a: traced(trail, 'a'), b: traced(trail, 'b') })
    await composer.apply(rowsOf('a', 'b'))
    const again = rowsOf(
      'b',
      '{ id: off, name: x, disabled: true }',
      '{ id: a, name: a, optional: true }',
    )
    expect(await composer.apply(again)).toMatchObject({
      added: [],
      changed: [],
      removed: [],
      kept: ['a', 'b'],
    })
    expect(trail).toEqual(['a+', 'b+'])
  })

  test('names an optional row that the edit breaks, once', async () => {
    const plugins = { picky: traced([], 'picky'), other: { apply: () => {} } }
    const { composer } = start(plugins)
    await composer.apply(rowsOf('{ id: picky, name: picky, optional: true }'))
    const broken = '{ id: picky, name: picky, optional: true, config: { typo: 1 } }'
    expect(await composer.apply(rowsOf(broken))).toMatchObject({
      removed: ['picky'],
      refused: [{ id: 'picky', state: 'quarantined', reason: expect.stringContaining('typo') }],
    })
    expect((await composer.apply(rowsOf(broken, 'other'))).refused).toEqual([])
  })

  test('does not try a quarantined row again until it changes', async () => {
    let starts = 0
    const apply = (_: unknown, config: { on?: boolean }) => {
      starts++
      if (config.on !== true) throw new Error('not on')
    }
    const { composer } = start({ moody: { apply }, other: { apply: () => {} } })
    const moody = '{ id: moody, name: moody, optional: true }'
    await composer.apply(rowsOf(moody))
    await composer.apply(rowsOf(moody, 'other'))
    expect(states(composer)).toEqual({ moody: 'quarantined', other: 'active' })
    expect(starts).toBe(1)
    await composer.apply(rowsOf('{ id: moody, name: moody, optional: true, config: { on: true } }'))
    expect(states(composer)).toEqual({ moody: 'active' })
  })
})

describe('a row that goes', () => {
  test('stays as it is while a rejected change comes and goes', async () => {
    const trail: Trail = []
    const plugins = {
      old: traced(trail, 'old'),
      boom: { apply: () => Promise.reject(new Error('boom')) },
    }
    const { composer } = start(plugins)
    await composer.apply(rowsOf('old'))
    expect(await problemsIn(composer, rowsOf('boom'))).toMatchObject([
      { code: 'ROW_FAILED', row: 'boom' },
    ])
    expect(trail).toEqual(['old+'])
    expect(states(composer)).toEqual({ old: 'active' })
  })

  test.each([
    ['required', ''],
    ['optional', ', optional: true'],
  ])('gives up the name that a new %s row registers', async (_, more) => {
    const trail: Trail = []
    const { composer } = start({ one: holder(trail, 'one'), two: holder(trail, 'two') })
    await composer.apply(rowsOf('one'))
    await composer.apply(rowsOf(`{ id: two, name: two${more} }`))
    expect(trail).toEqual(['one+', 'one-', 'two+'])
    expect(states(composer)).toEqual({ two: 'active' })
  })

  test('gives up the service that a new row provides', async () => {
    const trail: Trail = []
    const plugins = {
      one: traced(trail, 'one', { provides: ['composeA'] }),
      two: traced(trail, 'two', { provides: ['composeA'] }),
    }
    const { composer } = start(plugins)
    await composer.apply(rowsOf('one'))
    await composer.apply(rowsOf('two'))
    expect(trail).toEqual(['one+', 'one-', 'two+'])
  })

  test('comes back where what it was needed for fails without it', async () => {
    const trail: Trail = []
    // A plain plugin, which does not say what it provides.
    const plain = {
      apply: (ctx: Parameters<typeof own>[0]) => own(ctx, 'composeB', { label: 'plain' }),
    }
    const { composer } = start({ plain, user: traced(trail, 'user', { inject: ['composeB'] }) })
    await composer.apply(rowsOf('plain', 'user'))
    expect(await problemsIn(composer, rowsOf('user'))).toMatchObject([
      { code: 'SERVICE_MISSING', row: 'user' },
    ])
    expect(states(composer)).toEqual({ plain: 'active', user: 'active' })
  })
})

describe('agents in progress', () => {
  const preset = (rows: string) => composed({ bundle: `- preset: standard\n  rows: [${rows}]\n` })

  test('keep the rows of their preset; new ones get the new rows', async () => {
    const trail: Trail = []
    const { root, composer } = start({ a: traced(trail, 'a'), b: traced(trail, 'b') })
    await composer.apply(preset('{ id: a, name: a }'))
    const presets = root.get('presets')!
    const [early, late] = [openScope(root, 'early'), openScope(root, 'late')]
    await presets.mount(early, 'standard')
    const change = await composer.apply(preset('{ id: b, name: b }'))
    expect(change.presets).toEqual(['standard'])
    expect(trail).toEqual(['a+'])
    await presets.mount(late, 'standard')
    expect(trail).toEqual(['a+', 'b+'])
    await Promise.all([early.close(), late.close()])
  })
})
