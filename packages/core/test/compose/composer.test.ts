import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createComposer, problemsOf } from '../../src/compose/index.ts'
import type { Composer, Composition, RowReport } from '../../src/compose/index.ts'
import { toExitCode } from '../../src/error/index.ts'
import { createRoot, definePlugin, footprint, own } from '../../src/kernel/index.ts'
import { composed } from './layers.ts'
import { loaderOf, rowsOf, traced } from './plugins.ts'
import type { Trail } from './plugins.ts'

const open: Composer[] = []

afterEach(async () => {
  await Promise.all(open.splice(0).map((composer) => composer.close()))
})

function start(plugins: Record<string, unknown>, rowTimeoutMs = 1000) {
  const root = createRoot({ log: () => {} })
  const before = footprint(root)
  const composer = createComposer(root, loaderOf(plugins, { version: '1.2.3' }), { rowTimeoutMs })
  open.push(composer)
  return { root, composer, before }
}

function statesOf(reports: readonly RowReport[]): Record<string, string> {
  return Object.fromEntries(reports.map(({ id, state }) => [id, state]))
}

async function applied(composer: Composer, composition: Composition): Promise<RowReport[]> {
  await composer.apply(composition)
  return composer.report()
}

async function rejectionOf(composer: Composer, composition: Composition) {
  const error = await composer.apply(composition).then(
    () => undefined,
    (error: unknown) => error,
  )
  const problems = problemsOf(error).map(({ code, row, message }) => `${code} ${row} ${message}`)
  return { error, problems }
}

// A database whose url is its config; a user that works on whatever database there is.
function databasePlugins(trail: Trail) {
  const db = definePlugin({
    name: 'db',
    provides: ['composeA'],
    config: z.strictObject({ url: z.string().default('mem') }),
    async apply(ctx, { url }) {
      await new Promise((resolve) => setTimeout(resolve, 5))
      if (url === 'broken') throw new Error(`cannot open ${url}`)
      trail.push(`db+${url}`)
      own(ctx, 'composeA', { label: url }, () => trail.push(`db-${url}`))
    },
  })
  const user = definePlugin({
    name: 'user',
    inject: ['composeA'],
    apply(ctx) {
      const { label } = ctx.composeA
      trail.push(`user+${label}`)
      ctx.effect(() => () => trail.push(`user-${label}`))
    },
  })
  return { db, user, other: traced(trail, 'other') }
}

const dbAt = (url: string) => `{ id: db, name: db, config: { url: ${url} } }`

describe('apply', () => {
  test('mounts rows in any file order and leaves nothing behind', async () => {
    const trail: Trail = []
    const { root, composer, before } = start(databasePlugins(trail))
    const reports = await applied(
      composer,
      rowsOf('user', 'db', '{ id: off, name: x, disabled: true }'),
    )
    expect(statesOf(reports)).toEqual({ user: 'active', db: 'active', off: 'disabled' })
    expect(reports[0]).toMatchObject({
      file: '/bundle/cordis.patch.yml',
      line: 2,
      version: '1.2.3',
    })
    expect(reports[1]!.ms).toBeGreaterThan(3)
    expect(reports[2]).toMatchObject({ reason: 'It is disabled at /bundle/cordis.patch.yml:4.' })
    expect(await composer.close()).toEqual({ hung: [] })
    expect(trail).toEqual(['db+mem', 'user+mem', 'user-mem', 'db-mem'])
    expect(footprint(root)).toEqual(before)
  })

  test('a second time touches only what differs', async () => {
    const trail: Trail = []
    const { composer } = start(databasePlugins(trail))
    await composer.apply(rowsOf('user', 'db', 'other'))
    trail.length = 0
    await composer.apply(rowsOf('user', 'db', 'other'))
    expect(trail).toEqual([])
    await composer.apply(rowsOf(dbAt('file'), 'user', 'other'))
    expect(trail).toEqual(['user-mem', 'db-mem', 'db+file', 'user+file'])
    trail.length = 0
    const reports = await applied(composer, rowsOf(dbAt('file'), 'user'))
    expect(trail).toEqual(['other-'])
    expect(statesOf(reports)).toEqual({ db: 'active', user: 'active' })
  })

  test('overlapping calls run one after the other', async () => {
    const trail: Trail = []
    const { composer } = start(databasePlugins(trail))
    await Promise.all([
      composer.apply(rowsOf('user', 'db')),
      composer.apply(rowsOf('user', dbAt('A'))),
      composer.apply(rowsOf('user', dbAt('B'))),
    ])
    expect(trail.join(' ')).toBe(
      'db+mem user+mem user-mem db-mem db+A user+A user-A db-A db+B user+B',
    )
  })

  test('a row whose plugin changes is replaced, the old provider gone before the new one', async () => {
    const trail: Trail = []
    const plugins = {
      one: traced(trail, 'one', { provides: ['composeA'] }),
      two: traced(trail, 'two', { provides: ['composeA'] }),
    }
    const { composer, root } = start(plugins)
    await composer.apply(rowsOf('{ id: maker, name: one }'))
    await composer.apply(rowsOf('{ id: maker, name: two }'))
    expect(trail).toEqual(['one+', 'one-', 'two+'])
    expect(root.get('composeA')).toEqual({ label: 'two' })
  })

  test('a service that the host provides needs no row', async () => {
    const trail: Trail = []
    const { composer, root } = start(databasePlugins(trail))
    own(root, 'composeA', { label: 'host' })
    expect(statesOf(await applied(composer, rowsOf('user')))).toEqual({ user: 'active' })
    expect(statesOf(await applied(composer, rowsOf('user', 'other')))).toMatchObject({
      user: 'active',
    })
  })
})

describe('a rejected composition', () => {
  test('of problems touches nothing and exits with 78', async () => {
    const trail: Trail = []
    const { composer } = start(databasePlugins(trail))
    await composer.apply(rowsOf('user', 'db'))
    trail.length = 0
    const bad = rowsOf('user', dbAt('[1]'), 'gone')
    const { error, problems } = await rejectionOf(composer, bad)
    expect(problems.map((text) => text.split(' ').slice(0, 2).join(' '))).toEqual([
      'CONFIG_INVALID db',
      'PACKAGE_MISSING gone',
    ])
    expect(toExitCode(error)).toBe(78)
    expect(trail).toEqual([])
    const broken = composed({ bundle: '- insert: nothing\n' })
    expect((await rejectionOf(composer, broken)).problems).toHaveLength(1)
  })

  test('that fails at first boot leaves nothing mounted', async () => {
    const trail: Trail = []
    const { composer, root, before } = start(databasePlugins(trail))
    const { problems } = await rejectionOf(composer, rowsOf('other', 'user', dbAt('broken')))
    expect(problems).toEqual([
      'SERVICE_MISSING user The row "user" is not active. It needs ctx.composeA.',
      'ROW_FAILED db The row "db" is not active. db: cannot open broken',
    ])
    expect(trail).toEqual(['other+', 'other-'])
    expect(composer.report()).toEqual([])
    await composer.close()
    expect(footprint(root)).toEqual(before)
  })

  test('that fails later restores what ran and never stops what it would remove', async () => {
    const trail: Trail = []
    const { composer, root } = start(databasePlugins(trail))
    await composer.apply(rowsOf('user', 'db', 'other'))
    trail.length = 0
    const { problems } = await rejectionOf(composer, rowsOf('user', dbAt('broken')))
    expect(problems).toEqual([expect.stringContaining('cannot open broken')])
    expect(root.get('composeA')).toEqual({ label: 'mem' })
    expect(trail).toEqual(['user-mem', 'db-mem', 'db+mem', 'user+mem'])
    expect(statesOf(composer.report())).toEqual({ user: 'active', db: 'active', other: 'active' })
  })

  test('of a failing addition takes the other additions out again', async () => {
    const trail: Trail = []
    const plugins = {
      ...databasePlugins(trail),
      late: { apply: () => Promise.reject(new Error('late boom')) },
    }
    const { composer } = start(plugins)
    await composer.apply(rowsOf('db'))
    trail.length = 0
    const { problems } = await rejectionOf(composer, rowsOf('db', 'other', 'late'))
    expect(problems).toEqual(['ROW_FAILED late The row "late" is not active. late: late boom'])
    expect(trail).toEqual(['other+', 'other-'])
  })

  test('is restored by a fresh mount where the row cannot go back by itself', async () => {
    let starts = 0
    const moody = {
      async apply() {
        starts++
        if (starts === 2 || starts === 3) throw new Error('not now')
      },
    }
    const { composer } = start({ moody })
    await composer.apply(rowsOf('{ id: moody, name: moody, config: { a: 1 } }'))
    const changed = rowsOf('{ id: moody, name: moody, config: { a: 2 } }')
    const { problems } = await rejectionOf(composer, changed)
    expect(problems).toEqual([expect.stringContaining('restoring the previous config failed too')])
    expect(statesOf(composer.report())).toEqual({ moody: 'active' })
    expect(starts).toBe(4)
  })

  test('of a plugin that never starts is named after its time limit', async () => {
    const { composer } = start({ hangs: { apply: () => new Promise(() => {}) } }, 50)
    const { problems } = await rejectionOf(composer, rowsOf('hangs'))
    expect(problems).toEqual([expect.stringContaining('did not become active within 50 ms')])
  })

  test('of a plain plugin that waits names the service', async () => {
    const { composer } = start({ plain: { inject: ['composeC'], apply() {} } })
    const { problems } = await rejectionOf(composer, rowsOf('plain'))
    expect(problems).toEqual([expect.stringMatching(/^SERVICE_MISSING plain .*ctx\.composeC/)])
  })
})

describe('optional rows', () => {
  test('that fail are quarantined with their reason, the rest boots', async () => {
    const trail: Trail = []
    const boom = traced(trail, 'boom', { provides: ['composeB'] })
    const plugins = {
      other: traced(trail, 'other'),
      boom: { ...boom, apply: () => Promise.reject(new Error('boom')) },
      waits: traced(trail, 'waits', { inject: ['composeB'] }),
    }
    const { composer } = start(plugins)
    const reports = await applied(
      composer,
      rowsOf(
        '{ id: boom, name: boom, optional: true }',
        '{ id: waits, name: waits, optional: true }',
        '{ id: gone, name: gone, optional: true }',
        'other',
      ),
    )
    expect(statesOf(reports)).toEqual({
      boom: 'quarantined',
      waits: 'waiting',
      gone: 'quarantined',
      other: 'active',
    })
    expect(reports[0]).toMatchObject({ reason: 'boom: boom' })
    expect(reports[1]).toMatchObject({ needs: ['composeB'], reason: 'It needs ctx.composeB.' })
    expect(trail).toEqual(['other+'])
  })

  test('whose failure leaves a required row without its service stop the boot', async () => {
    const trail: Trail = []
    const { db, user } = databasePlugins(trail)
    const { composer } = start({ db, user })
    const optional = '{ id: db, name: db, optional: true, config: { url: broken } }'
    const { problems } = await rejectionOf(composer, rowsOf('user', optional))
    expect(problems).toEqual([expect.stringContaining('It needs ctx.composeA')])
  })
})

describe('close', () => {
  test('goes on after a row that hangs and names it', async () => {
    const trail: Trail = []
    const hangs = {
      apply: (ctx: { effect(fn: () => () => Promise<void>): void }) =>
        ctx.effect(() => () => new Promise<void>(() => {})),
    }
    const { composer } = start(
      { first: traced(trail, 'first'), hangs, last: traced(trail, 'last') },
      50,
    )
    await composer.apply(rowsOf('first', 'hangs', 'last'))
    const closing = composer.close()
    expect(composer.close()).toBe(closing)
    expect(await closing).toEqual({ hung: ['hangs'] })
    expect(trail).toEqual(['first+', 'last+', 'last-', 'first-'])
  })

  test('waits for a running change and refuses later ones', async () => {
    const trail: Trail = []
    const { composer } = start(databasePlugins(trail))
    const applying = composer.apply(rowsOf('user', 'db'))
    const closing = composer.close()
    await expect(composer.apply(rowsOf('db'))).rejects.toMatchObject({ code: 'COMPOSE_CLOSED' })
    await applying
    expect(statesOf(composer.report())).toEqual({ user: 'active', db: 'active' })
    await closing
    expect(trail).toEqual(['db+mem', 'user+mem', 'user-mem', 'db-mem'])
  })
})
