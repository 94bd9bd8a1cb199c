import { describe, expect, test } from 'vitest'
import { compose } from '../../src/compose/index.ts'
import type { LayerKind, LayerSource } from '../../src/compose/index.ts'
import { corpus } from './corpus.ts'

describe('broken compositions', () => {
  for (const { title, layers, expect: expected } of corpus) {
    test(title, () => {
      const { problems } = compose(sources(layers), {
        profile: 'headless',
        env: { SET: 'yes' },
        knownRows: ['frontend-web'],
      })
      const found = problems.map(({ code, file, line }) => [code, `${file}:${line}`])
      expect(found).toEqual(expected.map(([code, place]) => [code, place]))
      expected.forEach(([, , hint], i) => {
        const { message, hint: given = '' } = problems[i]!
        expect(`${message} ${given}`).toContain(hint)
      })
    })
  }

  test('reports every problem of every layer at once', () => {
    const layers = sources({
      bundle: '- insert: [{ id: a, name: x }]\n- id: b\n  disabled: true\n',
      home: '- id: a\n  disabled: yes\n- id: c\n  remove: true\n',
    })
    const { problems } = compose(layers, { profile: 'headless', env: {} })
    expect(problems.map(({ file, line, code }) => `${file}:${line} ${code}`)).toEqual([
      'bundle.yml:2 ROW_UNKNOWN',
      'home.yml:2 ROW_INVALID',
      'home.yml:3 ROW_UNKNOWN',
    ])
  })
})

function sources(layers: Partial<Record<LayerKind, string>>): LayerSource[] {
  return Object.entries(layers).map(([kind, text]) => ({
    kind: kind as LayerKind,
    name: kind,
    file: `${kind}.yml`,
    text,
  }))
}
