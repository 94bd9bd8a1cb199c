import { describe, expect, test } from 'vitest'
import { nearest } from '@cordage/core/error'
import { describeRow, originOf } from '../../src/compose/index.ts'
import { composed, rowOf } from './layers.ts'

const BUNDLE = `- insert:
    - id: model
      name: '@cordage/model'
      config:
        providers:
          deepseek: { api: completions, baseURL: https://a, models: [{ id: x }, { id: y }] }
          openai: { api: responses }
    - id: policy-retry
      name: '@cordage/policy-retry'
      config: { maxRetries: 2 }
      optional: true
- preset: standard
  rows:
    - { id: tool-read, name: '@cordage/tool-read' }
    - { id: tool-write, name: '@cordage/tool-write', config: { maxBytes: 10 } }
- preset: reviewer
  extends: standard
  rows: [{ id: tool-write, remove: true }, { id: tool-grep, name: '@cordage/tool-grep' }]
`

describe('operations', () => {
  test('config replaces the whole configuration', () => {
    const { rows, problems } = composed({
      bundle: BUNDLE,
      home: '- id: model\n  config: { a: 1 }\n',
    })
    expect(problems).toEqual([])
    expect(rowOf(rows, 'model').config).toEqual({ a: 1 })
  })

  test('merge merges mappings, deletes by null and replaces lists', () => {
    const home = `- id: model
  merge:
    providers:
      openai: null
      deepseek: { baseURL: https://b, models: [{ id: z }], extra: { on: true, off: null } }
`
    const { rows } = composed({ bundle: BUNDLE, home })
    expect(rowOf(rows, 'model').config).toEqual({
      providers: {
        deepseek: {
          api: 'completions',
          baseURL: 'https://b',
          models: [{ id: 'z' }],
          extra: { on: true },
        },
      },
    })
  })

  test('a later layer changes what an earlier one changed, and may remove and insert anew', () => {
    const { rows, problems } = composed({
      bundle: BUNDLE,
      profile: '- { id: policy-retry, disabled: true, optional: false }\n',
      home: '- { id: policy-retry, merge: { delayMs: 5 } }\n- { id: model, remove: true }\n',
      overlay: '- { id: policy-retry, disabled: false }\n- insert: [{ id: model, name: other }]\n',
    })
    expect(problems).toEqual([])
    expect(
      rows.map(({ id, name, disabled, optional, config }) => [
        id,
        name,
        disabled,
        optional,
        config,
      ]),
    ).toEqual([
      ['policy-retry', '@cordage/policy-retry', false, false, { maxRetries: 2, delayMs: 5 }],
      ['model', 'other', false, false, {}],
    ])
    expect(rowOf(rows, 'model').from).toBe('/overlay/cordis.patch.yml')
  })

  test.each([
    ['', []],
    ['# only a comment\n', []],
    ['[]\n', []],
    ['---\n', []],
  ])('a layer of %j has no operations', (text, expected) => {
    expect(composed({ bundle: text })).toMatchObject({ rows: expected, problems: [] })
  })

  test('words that YAML 1.1 bends stay strings, anchors are expanded', () => {
    const bundle = '- insert: [{ id: a, name: x, config: { k: no, l: &l [on], m: *l } }]\n'
    const { rows } = composed({ bundle })
    expect(rows[0]!.config).toEqual({ k: 'no', l: ['on'], m: ['on'] })
  })
})

describe('presets', () => {
  test('a preset extends another by inserts and patches and leaves it as it is', () => {
    expect(idsOf({ bundle: BUNDLE }, 'reviewer')).toEqual(['tool-read', 'tool-grep'])
    expect(idsOf({ bundle: BUNDLE }, 'standard')).toEqual(['tool-read', 'tool-write'])
  })

  test('a later layer adds to a preset, and what extends it follows', () => {
    const home = '- preset: standard\n  rows: [{ id: tool-todo, name: t }]\n'
    expect(idsOf({ bundle: BUNDLE, home }, 'reviewer')).toEqual([
      'tool-read',
      'tool-todo',
      'tool-grep',
    ])
  })

  test('a base may be declared after the preset that extends it', () => {
    const bundle = '- { preset: a, extends: b }\n- { preset: b, rows: [{ id: x, name: x }] }\n'
    expect(idsOf({ bundle }, 'a')).toEqual(['x'])
  })

  test('an id outside of presets means the row wherever a preset inserts it', () => {
    const { presets, problems } = composed({
      bundle: BUNDLE,
      home: '- { id: tool-read, disabled: true }\n',
    })
    expect(problems).toEqual([])
    for (const name of ['standard', 'reviewer']) {
      expect(rowOf(presets.get(name)!.rows, 'tool-read').disabled).toBe(true)
    }
  })

  test('a default preset that does not exist is a problem of the profile', () => {
    const { problems } = composed({ bundle: BUNDLE, profile: '' }, { preset: 'standart' })
    expect(problems).toMatchObject([
      { code: 'PRESET_UNKNOWN', file: '/profile/cordis.patch.yml', hint: 'Did you mean standard?' },
    ])
    expect(composed({ bundle: BUNDLE }, { preset: 'standard' }).defaultPreset).toBe('standard')
  })
})

describe('profiles', () => {
  test('an operation for another profile is skipped with a note', () => {
    const home =
      '- { id: nobody, disabled: true, profiles: [tui, web] }\n- { id: model, disabled: true, profiles: [headless] }\n'
    const { rows, notes, problems } = composed({ bundle: BUNDLE, home })
    expect(problems).toEqual([])
    expect(rowOf(rows, 'model').disabled).toBe(true)
    expect(notes).toEqual([
      {
        file: '/home/cordis.patch.yml',
        line: 1,
        message: 'Skipped: it is for tui, web, not headless.',
      },
    ])
  })

  test("an id that only another profile knows is skipped with a note in a person's layer", () => {
    const home = `- { id: frontend-web, disabled: true }
- preset: board
  rows: [{ id: tool-board, remove: true }]
- preset: mine
  extends: web-standard
`
    const { notes, problems, presets } = composed(
      { bundle: BUNDLE, home },
      { knownRows: ['frontend-web', 'tool-board', 'web-standard'] },
    )
    expect(problems).toEqual([])
    expect(notes.map(({ line, row }) => [line, row])).toEqual([
      [1, 'frontend-web'],
      [3, 'tool-board'],
      [5, undefined],
    ])
    expect([...presets.keys()]).toEqual(['standard', 'reviewer'])
  })
})

describe('references', () => {
  const bundle = `- insert:
    - id: a
      name: x
      config:
        set: !env SET
        given: !env "SET ?? other"
        fallback: !env "UNSET ?? a,b ?? c"
        empty: !env "UNSET ??"
        proto: !env "toString ?? none"
        file: !path ../data/x.txt
    - id: b
      name: x
      disabled: true
      config: { key: !env UNSET }
`
  const { rows, problems } = composed({ bundle }, { env: { SET: 'yes' } })

  test('are resolved to strings on enabled rows', () => {
    expect(problems).toEqual([])
    expect(rowOf(rows, 'a').config).toEqual({
      set: 'yes',
      given: 'yes',
      fallback: 'a,b ?? c',
      empty: '',
      proto: 'none',
      file: '/data/x.txt',
    })
  })

  test('are left alone on disabled rows, until an overlay enables them', () => {
    expect(rowOf(rows, 'b').config).toEqual(rowOf(rows, 'b').written)
    const enabled = composed(
      { bundle, overlay: '- { id: b, disabled: false }\n' },
      { env: { SET: '' } },
    )
    expect(enabled.problems).toMatchObject([
      { code: 'ENV_UNSET', file: '/bundle/cordis.patch.yml', line: 14, row: 'b' },
    ])
  })
})

describe('origins', () => {
  const home = `- id: model
  merge:
    providers:
      deepseek:
        baseURL: https://b
- id: model
  disabled: true
`
  const composition = composed({ bundle: BUNDLE, home })

  test('each value is explained by the layer and line that set it', () => {
    const [row] = describeRow(composition, 'model')
    const lines = row!.values.map(
      ({ path, value, kind, line }) => `${path} ${value} ${kind}:${line}`,
    )
    expect(lines).toEqual([
      'name "@cordage/model" bundle:3',
      'disabled true home:7',
      'optional false bundle:2',
      'config.providers.deepseek.api "completions" bundle:6',
      'config.providers.deepseek.baseURL "https://b" home:5',
      'config.providers.deepseek.models[0].id "x" bundle:6',
      'config.providers.deepseek.models[1].id "y" bundle:6',
      'config.providers.openai.api "responses" bundle:7',
    ])
  })

  test('a value that nobody wrote is placed at the mapping around it', () => {
    const row = rowOf(composition.rows, 'model')
    expect(originOf(row, ['config', 'providers', 'openai', 'nope', 1])).toMatchObject({ line: 7 })
    expect(originOf(row, ['config'])).toMatchObject({ kind: 'bundle', line: 4 })
  })

  test('a row is explained in every preset that has it', () => {
    expect(describeRow(composition, 'tool-read').map((row) => row.preset)).toEqual([
      'standard',
      'reviewer',
    ])
    expect(describeRow(composition, 'nope')).toEqual([])
  })
})

test('nearest finds swaps, missing prefixes and nothing far', () => {
  const known = ['tool-bash', 'tool-read', 'policy-retry', 'store-jsonl']
  expect(nearest('tool-raed', known)).toEqual(['tool-read', 'tool-bash'])
  expect(nearest('jsonl', known)).toEqual(['store-jsonl'])
  expect(nearest('x', known)).toEqual([])
})

function idsOf(texts: Parameters<typeof composed>[0], preset: string): string[] | undefined {
  return composed(texts)
    .presets.get(preset)
    ?.rows.map((row) => row.id)
}
