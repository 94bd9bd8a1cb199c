import { expect, test } from 'vitest'
import { difference } from '../../src/compose/index.ts'
import type { RowDifference } from '../../src/compose/index.ts'
import { composed } from './layers.ts'

const BUNDLE = `- insert:
    - { id: a, name: x, config: { deep: { on: true, off: false }, list: [1, 2] } }
    - { id: b, name: x }
- preset: standard
  rows:
    - { id: tool, name: t, config: { max: 1 } }
- { preset: reviewer, extends: standard }
`

function changes(overlay: string): RowDifference[] {
  return difference(composed({ bundle: BUNDLE }), composed({ bundle: BUNDLE, overlay }))
}

const lines = (found: RowDifference[]) =>
  found.flatMap(({ id, kind, presets, values }) =>
    values.map(({ path, before, after }) =>
      [
        kind,
        id,
        ...presets,
        path,
        before && `${before.value}@${before.kind}:${before.line}`,
        '->',
        after && `${after.value}@${after.kind}:${after.line}`,
      ]
        .filter(Boolean)
        .join(' '),
    ),
  )

test('there is none to itself, to a comment, or to what says the same again', () => {
  expect(changes('# nothing\n')).toEqual([])
  expect(
    changes('- { id: a, merge: { deep: { on: true } } }\n- { id: b, disabled: false }\n'),
  ).toEqual([])
})

test('values have an old and a new side, each with its layer and line', () => {
  const overlay =
    '- id: a\n  merge:\n    deep:\n      on: !env "X ?? y"\n      off: null\n    list: [1, 3]\n    more: 1\n'
  expect(lines(changes(overlay))).toEqual([
    'changed a config.deep.on true@bundle:2 -> !env X ?? y@overlay:4',
    'changed a config.deep.off false@bundle:2 ->',
    'changed a config.list[1] 2@bundle:2 -> 3@overlay:6',
    'changed a config.more -> 1@overlay:7',
  ])
})

test('rows that come and go have one side only, and say who took them out', () => {
  const found = changes('- { id: b, remove: true }\n- insert:\n    - { id: c, name: z }\n')
  expect(found.map(({ id, kind, removed }) => [id, kind, removed?.kind, removed?.line])).toEqual([
    ['b', 'removed', 'overlay', 1],
    ['c', 'added', undefined, undefined],
  ])
  expect(lines(found)[3]).toBe('added c name -> "z"@overlay:3')
})

test('a row that presets share is told once, with each of them', () => {
  expect(lines(changes('- { id: tool, merge: { max: 2 } }\n'))).toEqual([
    'changed tool standard reviewer config.max 1@bundle:6 -> 2@overlay:1',
  ])
  expect(lines(changes('- { preset: reviewer, rows: [{ id: tool, disabled: true }] }\n'))).toEqual([
    'changed tool reviewer disabled false@bundle:6 -> true@overlay:1',
  ])
})
