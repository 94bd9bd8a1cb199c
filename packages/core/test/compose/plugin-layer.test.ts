import { describe, expect, it } from 'vitest'
import { createComposer, dump, preflight } from '../../src/compose/index.ts'
import { composed, rowOf } from './layers.ts'
import { loaderOf, quietRoot, traced } from './plugins.ts'

const bundle = '- insert:\n    - { id: ours, name: ours }\n'
const trail: string[] = []
const plugins = { ours: traced(trail, 'ours'), theirs: traced(trail, 'theirs') }

async function boot(plugin: string, more: Record<string, string> = {}) {
  const composer = createComposer(quietRoot(), loaderOf(plugins))
  await composer.apply(composed({ bundle, plugin, ...more }))
  const report = composer.report().map(({ id, state, reason }) => ({ id, state, reason }))
  await composer.close()
  return report
}

describe('the layer of a plugin', () => {
  it('has rows that are optional unless a layer of a person says otherwise', () => {
    const plugin = '- insert:\n    - { id: theirs, name: theirs }\n'
    expect(rowOf(composed({ bundle, plugin }).rows, 'theirs').optional).toBe(true)
    const home = '- { id: theirs, optional: false }\n'
    expect(rowOf(composed({ bundle, plugin, home }).rows, 'theirs').optional).toBe(false)
  })

  it.each([
    ['is no YAML', '- insert: [\n', 'YAML_INVALID'],
    [
      'asks for a required row',
      '- insert:\n    - { id: theirs, name: theirs, optional: false }\n',
      'OPERATION_INVALID',
    ],
    [
      'takes the id of another row',
      '- insert:\n    - { id: ours, name: theirs }\n',
      'ROW_DUPLICATE',
    ],
    ['changes a row that is not there', '- { id: nowhere, disabled: true }\n', 'ROW_UNKNOWN'],
  ])('that %s costs the plugin only, which is named', async (_, plugin, code) => {
    const [ours, theirs] = await boot(plugin, { home: '- { id: theirs, merge: {} }\n' })
    expect(ours).toMatchObject({ id: 'ours', state: 'active' })
    expect(theirs).toMatchObject({ id: 'plugin', state: 'quarantined' })
    expect(theirs?.reason).toContain(`/plugin/cordis.patch.yml:`)
    expect(theirs?.reason).toContain(`[${code}]`)
  })

  it('that cannot be read is named with the reason', async () => {
    const composition = composed({ bundle })
    expect(dump(composition)).not.toContain('theirs')
    const { compose } = await import('../../src/compose/index.ts')
    const gone = { kind: 'plugin', name: '@acme/gone', file: '/gone', text: '' } as const
    const whole = compose([{ ...gone, unreadable: 'it does not exist' }], { profile: 'x', env: {} })
    const { rows, problems } = await preflight(whole, loaderOf(plugins))
    expect(problems).toEqual([])
    expect(rows).toMatchObject([{ state: 'quarantined', row: { id: 'acme-gone' } }])
    expect(rows[0]).toHaveProperty('reason', expect.stringContaining('it does not exist'))
  })
})
