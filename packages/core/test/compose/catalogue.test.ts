import { describe, expect, it } from 'vitest'
import { compose, originOf, readCatalogue } from '../../src/compose/index.ts'
import { composed, layersOf, rowOf } from './layers.ts'

const bundle = `
- insert:
    - id: model-openai
      name: ./openai.js
      config:
        providers:
          openai: { displayName: OpenAI }
          team: { displayName: Team }
    - id: tool-openai
      name: ./tool.js
      config: { providers: { openai: { level: 3 } } }
`
const catalogue = `
date: 2026-11-30
providers:
  openai:
    - { id: large, contextWindow: 400, reasoningEfforts: { off: null, low: low } }
    - { id: small, contextWindow: 100 }
  elsewhere: [{ id: other }]
`

function modelsOf(layers: Parameters<typeof composed>[0], provider = 'openai') {
  const { rows, problems } = composed(layers)
  expect(problems).toEqual([])
  const { providers } = rowOf(rows, 'model-openai').config as {
    providers: Record<string, { models?: unknown }>
  }
  return providers[provider]?.models
}

const large = { id: 'large', contextWindow: 400, reasoningEfforts: { off: null, low: 'low' } }
const small = { id: 'small', contextWindow: 100 }

describe('a catalogue of models', () => {
  it('gives its models to a provider that lists none, each with its line', () => {
    expect(modelsOf({ bundle, catalogue })).toEqual([large, small])
    expect(modelsOf({ bundle, catalogue }, 'team')).toBeUndefined()
    const { rows } = composed({ bundle, catalogue })
    const path = ['config', 'providers', 'openai', 'models', 1, 'contextWindow']
    expect(originOf(rowOf(rows, 'model-openai'), path)).toMatchObject({
      kind: 'catalogue',
      line: 6,
    })
    expect(rowOf(rows, 'tool-openai').config).toEqual({ providers: { openai: { level: 3 } } })
  })

  it('completes a model that a layer lists, and adds none to its list', () => {
    const home = `
- id: model-openai
  merge:
    providers:
      openai: { models: [{ id: own }, { id: small, price: { input: 1, output: 2 } }] }
`
    const expected = [{ id: 'own' }, { ...small, price: { input: 1, output: 2 } }]
    expect(modelsOf({ bundle, catalogue, home })).toEqual(expected)
    const none = '- { id: model-openai, merge: { providers: { openai: { models: [] } } } }'
    expect(modelsOf({ bundle, catalogue, home: none })).toEqual([])
  })

  it('counts by its date: the newest says what is known of a provider', () => {
    const of = (date: string, id: string) => `date: ${date}\nproviders: { openai: [{ id: ${id} }] }`
    const all = (...texts: string[]) => {
      const { rows } = composedOf([...layersOf({ bundle }), ...texts.map(sourceOf)])
      const { providers } = rowOf(rows, 'model-openai').config as {
        providers: { openai: { models: unknown } }
      }
      return providers.openai.models
    }
    expect(all(of('2026-01-02', 'new'), of('2026-01-01', 'old'))).toEqual([{ id: 'new' }])
    expect(all(of('2026-01-01', 'old'), of('2026-01-02', 'new'))).toEqual([{ id: 'new' }])
    expect(all(of('2026-01-01', 'first'), of('2026-01-01', 'last'))).toEqual([{ id: 'last' }])
  })

  it.each([
    ['- a list', 'it is a list'],
    ['providers: {}', 'it has no date'],
    ['date: yesterday\nproviders: {}', 'it has no date'],
    ['date: 2026-11-30', 'it has no mapping of providers'],
    ['date: 2026-11-30\nprovider: {}', '"provider" means nothing here'],
    ['date: 2026-11-30\nproviders: { openai: {} }', 'the models of openai are no list'],
    ['date: [', 'YAML_INVALID'],
  ])('that is none is a problem with its place: %j', (text, expected) => {
    const { problems } = composed({ bundle, catalogue: text })
    expect(problems).toHaveLength(1)
    const [found] = problems
    expect(`${found?.message} ${found?.code}`).toContain(expected)
    expect(found?.file).toBe('/catalogue/cordis.patch.yml')
  })

  it('reads as data', () => {
    const [source] = layersOf({ catalogue })
    if (!source) throw new Error('there is no source')
    expect(readCatalogue(source)).toEqual({
      date: '2026-11-30',
      providers: { openai: [large, small], elsewhere: [{ id: 'other' }] },
      problems: [],
    })
  })
})

function sourceOf(text: string, index: number) {
  return { kind: 'catalogue' as const, name: `c${index}`, file: `/c${index}.yml`, text }
}

function composedOf(layers: Parameters<typeof compose>[0]) {
  return compose(layers, { profile: 'headless', env: {} })
}
