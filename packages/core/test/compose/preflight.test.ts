import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { API_VERSION, preflight } from '../../src/compose/index.ts'
import type { Composition, Loader, Problem } from '../../src/compose/index.ts'
import { definePlugin } from '../../src/kernel/index.ts'
import { composed } from './layers.ts'
import { loaderOf, rowsOf, traced } from './plugins.ts'

const strict = definePlugin({
  name: 'strict',
  config: z.strictObject({
    maxBytes: z.number().default(1),
    nested: z.strictObject({ label: z.string() }).optional(),
    items: z.array(z.strictObject({ id: z.string() })).default([]),
  }),
  apply() {},
})

async function problemsOf(composition: Composition, loader: Loader): Promise<string[]> {
  const { problems } = await preflight(composition, loader, { timeoutMs: 200 })
  return problems.map(textOf)
}

function textOf({ line, code, message, hint }: Problem): string {
  return `${line} ${code} ${message}${hint === undefined ? '' : ` ${hint}`}`
}

test('the api version is that of package.json', async () => {
  const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8')
  expect(JSON.parse(text)).toMatchObject({ cordage: { api: API_VERSION } })
})

describe('configs', () => {
  const bundle = `- insert:
    - id: strict
      name: strict
      config:
        maxByte: 5
        maxBytes: many
        nested:
          label: 12
          labl: x
        items:
          - id: ok
          - { idd: x }
`

  test('every problem is reported at its line, unknown keys with the nearest known', async () => {
    expect(await problemsOf(composed({ bundle }), loaderOf({ strict }))).toEqual([
      '5 CONFIG_INVALID The row "strict" has an invalid config.maxByte: unknown key. Did you mean maxBytes?',
      '6 CONFIG_INVALID The row "strict" has an invalid config.maxBytes: Invalid input: expected number, received string.',
      '8 CONFIG_INVALID The row "strict" has an invalid config.nested.label: Invalid input: expected string, received number. Put the value in quotes.',
      '9 CONFIG_INVALID The row "strict" has an invalid config.nested.labl: unknown key. Did you mean label?',
      '12 CONFIG_INVALID The row "strict" has an invalid config.items[1].id: Invalid input: expected string, received undefined.',
      '12 CONFIG_INVALID The row "strict" has an invalid config.items[1].idd: unknown key. Did you mean id?',
    ])
  })

  test('an asynchronous schema is awaited, a throwing transform is a problem', async () => {
    const slow = {
      name: 'slow',
      Config: z.object({ a: z.string().refine(async (a) => a === 'x', 'not x') }),
      apply() {},
    }
    const broken = {
      name: 'broken',
      Config: z.object({}).transform(() => {
        throw new Error('transform broke')
      }),
      apply() {},
    }
    const composition = rowsOf('{ id: slow, name: slow, config: { a: y } }', 'broken')
    expect(await problemsOf(composition, loaderOf({ slow, broken }))).toEqual([
      expect.stringContaining('2 CONFIG_INVALID The row "slow" has an invalid config.a: not x'),
      expect.stringContaining('transform broke'),
    ])
  })

  test('an unset variable is reported once, by composing', async () => {
    const composition = rowsOf(
      '{ id: strict, name: strict, config: { nested: { label: !env NOPE } } }',
    )
    expect(await problemsOf(composition, loaderOf({ strict }))).toEqual([
      expect.stringContaining('2 ENV_UNSET'),
    ])
  })
})

describe('modules', () => {
  test('what cannot be loaded, exports no plugin or does not fit is a problem each', async () => {
    const loader: Loader = {
      async load(name, from) {
        if (name === 'broken') throw new SyntaxError('Unexpected token\n    at x.js')
        if (name === 'hangs') return new Promise(() => {})
        const api = name === 'old' ? '^0.3' : undefined
        return loaderOf({ old: strict, empty: {} }, { api }).load(name, from)
      },
    }
    const composition = rowsOf('gone', 'broken', 'empty', 'old', 'hangs')
    expect(await problemsOf(composition, loader)).toEqual([
      expect.stringMatching(
        /^2 PACKAGE_MISSING The row "gone": "gone" is not installed where .* disable/,
      ),
      expect.stringMatching(/^3 PACKAGE_INVALID .*Unexpected token\.$/),
      expect.stringMatching(/^4 PACKAGE_INVALID The row "empty": .* exports no plugin/),
      expect.stringMatching(
        /^5 API_INCOMPATIBLE The row "old": "old" asks for api \^0\.3; .* api 1\.0\.0/,
      ),
      expect.stringMatching(/^6 PACKAGE_INVALID .*The row "hangs" did not import within 200 ms/),
    ])
  })

  test('an optional row is skipped or quarantined with its reason instead', async () => {
    const composition = rowsOf(
      '{ id: gone, name: gone, optional: true }',
      '{ id: old, name: strict, optional: true }',
      '{ id: bad, name: strict, optional: true, config: { maxBytes: x } }',
      '{ id: unset, name: strict, optional: true, config: { nested: { label: !env NOPE } } }',
    )
    const loader: Loader = {
      async load(name, from) {
        return { ...(await loaderOf({ strict }).load(name, from)), api: '>=1 <3' }
      },
    }
    const skipped = await preflight(composition, loaderOf({ strict }, { api: 'nonsense' }))
    expect(skipped.rows.map(({ state }) => state)).toEqual([
      'quarantined',
      'skipped',
      'skipped',
      'quarantined',
    ])
    const { rows, problems } = await preflight(composition, loader)
    expect(problems).toEqual([])
    expect(rows.map(({ state }) => state)).toEqual([
      'quarantined',
      'ready',
      'quarantined',
      'quarantined',
    ])
    expect(rows[3]).toMatchObject({ reason: expect.stringContaining('NOPE') })
  })

  test('a module is imported once for all rows and presets that name it', async () => {
    let loads = 0
    const loader: Loader = {
      load(name, from) {
        loads++
        return loaderOf({ strict }).load(name, from)
      },
    }
    const bundle = `- preset: a
  rows: [{ id: x, name: strict }, { id: y, name: strict, config: { nope: 1 } }]
- { preset: b, extends: a }
`
    const { presets, problems } = await preflight(composed({ bundle }), loader)
    expect(loads).toBe(1)
    expect(problems.map(({ code }) => code)).toEqual(['CONFIG_INVALID'])
    expect([...presets.keys()]).toEqual(['a', 'b'])
  })
})

describe('services', () => {
  const trail: string[] = []
  const a = traced(trail, 'a', { provides: ['composeA'], inject: ['composeB'] })
  const b = traced(trail, 'b', { provides: ['composeB'], inject: ['composeA'] })
  const user = traced(trail, 'user', { inject: ['composeA'] })
  const maker = traced(trail, 'maker', { provides: ['composeA'] })
  const loader = loaderOf({ a, b, user, maker, other: maker, plain: { apply() {} } })

  test('a missing service names the row that would provide it', async () => {
    expect(
      await problemsOf(rowsOf('user', '{ id: maker, name: maker, disabled: true }'), loader),
    ).toEqual([
      '2 SERVICE_MISSING The row "user": the row needs ctx.composeA, which no enabled row provides. The row "maker" would, but it is disabled at /bundle/cordis.patch.yml:3.',
    ])
    const bad = rowsOf('user', '{ id: maker, name: maker, optional: true, config: { x: 1 } }')
    expect(await problemsOf(bad, loader)).toEqual([
      expect.stringContaining('The row "maker" would, but it is quarantined.'),
    ])
  })

  test('a ring is named with its rows, what it blocks is not reported too', async () => {
    expect(await problemsOf(rowsOf('user', 'a', 'b'), loader)).toEqual([
      expect.stringMatching(/^3 SERVICE_CYCLE The row "a": rows need each other: a -> b -> a\./),
    ])
  })

  test('an optional row that cannot start is no problem, a required one behind it is', async () => {
    const optional = rowsOf('{ id: a, name: a, optional: true }', 'user')
    expect(await problemsOf(optional, loader)).toEqual([
      '3 SERVICE_MISSING The row "user": the row needs ctx.composeA, which no enabled row provides. The row "a" would, but it waits itself and is optional.',
    ])
    expect(await problemsOf(rowsOf('{ id: a, name: a, optional: true }'), loader)).toEqual([])
  })

  test('two providers of a service are a problem, an optional one gives way', async () => {
    expect(await problemsOf(rowsOf('maker', 'other'), loader)).toEqual([
      '3 SERVICE_DUPLICATE The row "other": ctx.composeA is provided by the row "maker" too. Disable one of the two rows.',
    ])
    const yielding = rowsOf('{ id: maker, name: maker, optional: true }', 'other')
    const { rows, problems } = await preflight(yielding, loader)
    expect(problems).toEqual([])
    expect(rows.map(({ state }) => state)).toEqual(['quarantined', 'ready'])
  })

  test('what a broken row or an unread layer may provide is not reported as missing too', async () => {
    const bad = rowsOf('user', '{ id: maker, name: maker, config: { x: 1 } }')
    expect((await problemsOf(bad, loader)).map((text) => text.slice(0, 17))).toEqual([
      '3 CONFIG_INVALID ',
    ])
    expect(await problemsOf(rowsOf('user', 'gone'), loader)).toEqual([
      expect.stringContaining('PACKAGE_MISSING'),
    ])
    const unread = composed({ bundle: '- {', profile: '- insert: [{ id: user, name: user }]\n' })
    for (const text of await problemsOf(unread, loader)) expect(text).toContain('YAML_INVALID')
  })

  test('with a plain plugin, which may provide anything, nothing is said to be missing', async () => {
    expect(await problemsOf(rowsOf('user', 'plain'), loader)).toEqual([])
  })

  test('a preset may use services but not provide any', async () => {
    const bundle = `- insert: [{ id: maker, name: maker }]
- preset: p
  rows: [{ id: user, name: user }, { id: b, name: b }]
- { preset: q, extends: p }
`
    expect(await problemsOf(composed({ bundle }), loader)).toEqual([
      expect.stringMatching(/^3 SERVICE_IN_PRESET The row "b": ctx\.composeB is for everybody/),
    ])
    const without = '- preset: p\n  rows: [{ id: user, name: user }]\n'
    expect(await problemsOf(composed({ bundle: without }), loader)).toEqual([
      expect.stringContaining('the row of the preset "p" needs ctx.composeA'),
    ])
  })
})
