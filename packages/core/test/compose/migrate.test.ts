import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { compose, migrateLayer, preflight } from '../../src/compose/index.ts'
import { definePlugin } from '../../src/kernel/index.ts'
import { composed, layersOf } from './layers.ts'
import { loaderOf } from './plugins.ts'

const weather = definePlugin({
  name: 'weather',
  config: z.strictObject({
    timeoutMs: z.number().default(1000),
    units: z.string().default('metric'),
    limits: z.strictObject({ maxDays: z.number().default(5) }).prefault({}),
  }),
  configVersion: 3,
  migrate: {
    2: { rename: { timeout: 'timeoutMs' }, convert: { timeoutMs: (s) => Number(s) * 1000 } },
    3: { rename: { days: 'limits.maxDays' }, drop: ['legacy'] },
  },
  apply: () => {},
})
const migrate = (text: string) =>
  migrateLayer(text, (id) => (id === 'weather' ? weather : undefined))
const bundle = '- insert:\n    - { id: weather, name: weather }\n'
const check = async (home: string) => {
  const found = await preflight(composed({ bundle, home }), loaderOf({ weather }))
  return found.problems.map(({ code, line, message, hint }) => ({ code, line, message, hint }))
}

describe('a config of an older version', () => {
  it('is reported with the new name of a field that was renamed', async () => {
    const problems = await check('- id: weather\n  config:\n    timeout: 3\n    legacy: 1\n')
    expect(problems).toMatchObject([
      {
        code: 'CONFIG_INVALID',
        line: 3,
        hint: expect.stringContaining('"timeoutMs" since version 2'),
      },
      { code: 'CONFIG_INVALID', line: 4, hint: 'It means nothing since version 3 of this config.' },
    ])
  })

  it('is refused where only its meaning changed, at the line that says its version', async () => {
    const text = '- id: weather\n  configVersion: 1\n  merge: { timeoutMs: 3 }\n'
    expect(await check(text)).toMatchObject([{ code: 'CONFIG_OUTDATED', line: 2 }])
    expect(await check(text.replace('1', '3'))).toEqual([])
    expect((await check(text.replace('1', '4')))[0]?.hint).toContain('Update the plugin')
  })

  it('counts for the parts that are left, not for one that was replaced', async () => {
    const replaced = `- id: weather
  configVersion: 1
  config: { timeoutMs: 3 }
- id: weather
  configVersion: 3
  config: { timeoutMs: 3000 }
`
    expect(await check(replaced)).toEqual([])
    const merged = replaced.replace('  config: { timeoutMs: 3000 }', '  merge: { timeoutMs: 3000 }')
    expect(await check(merged)).toMatchObject([{ code: 'CONFIG_OUTDATED', line: 2 }])
  })

  it.each(['0', 'two', '1.5', '[1]'])('refuses the version %s', (version) => {
    const home = `- id: weather\n  configVersion: ${version}\n  merge: { units: x }\n`
    expect(composed({ bundle, home }).problems).toMatchObject([{ code: 'ROW_INVALID', line: 2 }])
  })
})

describe('migrating a layer', () => {
  it('keeps comments, order, references and what other plugins own', () => {
    const text = `# mine
- id: other
  merge: { timeout: 1 } # not weather's
- id: weather
  # patience
  config:
    units: !env "UNITS ?? metric"
    timeout: 3 # seconds
    days: 7
    legacy: true
`
    const { text: fresh, changes, left } = migrate(text)
    expect(fresh).toBe(`# mine
- id: other
  merge: { timeout: 1 } # not weather's
- id: weather
  # patience
  config:
    units: !env "UNITS ?? metric"
    timeoutMs: 3000 # seconds
    limits:
      maxDays: 7
  configVersion: 3
`)
    expect(changes).toEqual([
      'weather: timeout is timeoutMs',
      'weather: timeoutMs is 3000, was 3',
      'weather: legacy is gone',
      'weather: days is limits.maxDays',
    ])
    expect(left).toEqual([])
    expect(migrate(fresh)).toEqual({ text: fresh, changes: [], left: [] })
  })

  it('gives what composes with the plugin of today', async () => {
    const { text } = migrate('- id: weather\n  merge: { timeout: 3, days: 2 }\n')
    expect(await check(text)).toEqual([])
    const { rows } = compose(layersOf({ bundle, home: text }), { profile: 'headless', env: {} })
    expect(rows[0]?.config).toEqual({ timeoutMs: 3000, limits: { maxDays: 2 } })
  })

  it('converts what kept its name only where the row says how old it is', () => {
    const plain = '- id: weather\n  merge: { timeoutMs: 3 }\n'
    expect(migrate(plain)).toEqual({ text: plain, changes: [], left: [] })
    const said = migrate('- id: weather\n  configVersion: 1\n  merge: { timeoutMs: 3 }\n')
    expect(said.text).toContain('timeoutMs: 3000')
    expect(said.text).toContain('configVersion: 3')
  })

  it('leaves to a person what it cannot decide', () => {
    const both = migrate('- id: weather\n  merge: { timeout: 3, timeoutMs: 4 }\n')
    expect(both.left).toEqual(['weather: both timeout and timeoutMs are there; keep one'])
    const reference = migrate('- id: weather\n  merge:\n    timeout: !env SECONDS\n')
    expect(reference.text).toContain('timeoutMs: !env SECONDS')
    expect(reference.left).toEqual(['weather: convert timeoutMs yourself'])
    expect(migrate('- id: weather\n  merge: { timeout: null }\n').text).toContain('timeoutMs: null')
  })

  it('reaches rows inside of insert and of presets', () => {
    const text = `- insert:
    - { id: weather, name: weather, config: { days: 1 } }
- preset: standard
  rows:
    - { id: weather, merge: { days: 2 } }
`
    const { text: fresh, changes } = migrate(text)
    expect(changes).toHaveLength(2)
    expect(fresh.match(/limits: \{ maxDays: \d \}/g)).toHaveLength(2)
  })
})
