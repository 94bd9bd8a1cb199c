import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compose, dump } from '../../src/compose/index.ts'
import type { Composition, Row } from '../../src/compose/index.ts'
import { merge, plain } from '../../src/compose/located.ts'
import type { Located, LocatedMap } from '../../src/compose/located.ts'

const origin = { kind: 'bundle', file: 'f', line: 1 } as const
type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

function locate(value: Json): Located {
  if (Array.isArray(value)) return { type: 'list', items: value.map(locate), origin }
  if (typeof value !== 'object' || value === null) return { type: 'scalar', value, origin }
  const entries = new Map(Object.entries(value).map(([key, entry]) => [key, locate(entry)]))
  return { type: 'map', entries, origin }
}

const mapOf = (value: Json): LocatedMap => locate(value) as LocatedMap
const valueOf = (node: Located): unknown => plain(node, ({ value }) => value)

const key = fc.constantFrom('a', 'b', 'c', 'gpt-5.5', 'constructor')
const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean())
const { tree } = fc.letrec<{ tree: Json; object: Json }>((tie) => ({
  tree: fc.oneof({ depthSize: 'small' }, leaf, fc.constant(null), fc.array(leaf), tie('object')),
  object: fc.dictionary(key, tie('tree'), { maxKeys: 4 }),
}))
const object = fc.dictionary(key, tree, { maxKeys: 4 })
// Where a key is a mapping in one tree it is one in all: `x` holds mappings, `a` and `b` leaves.
const inner = fc.record({ a: leaf, b: leaf }, { requiredKeys: [] })
const shaped = fc.record({ x: inner, y: inner, a: leaf }, { requiredKeys: [] })

describe('merge', () => {
  test('is associative where patches agree on what is a mapping and delete nothing', () => {
    fc.assert(
      fc.property(shaped, shaped, shaped, (a, b, c) => {
        const left = merge(merge(mapOf(a), mapOf(b)), mapOf(c))
        const right = merge(mapOf(a), merge(mapOf(b), mapOf(c)))
        expect(valueOf(left)).toEqual(valueOf(right))
      }),
    )
  })

  test('changes nothing a second time and nothing by an empty patch', () => {
    fc.assert(
      fc.property(object, object, (a, b) => {
        const once = merge(mapOf(a), mapOf(b))
        expect(valueOf(merge(once, mapOf(b)))).toEqual(valueOf(once))
        expect(valueOf(merge(mapOf(a), mapOf({})))).toEqual(a)
      }),
    )
  })

  test('gives what the patch says at every key and keeps the others', () => {
    fc.assert(
      fc.property(object, object, (a, b) => {
        const merged = merge(mapOf(a), mapOf(b)).entries
        for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
          const given = Object.hasOwn(b, name) ? b[name] : undefined
          if (given === null) expect(merged.has(name)).toBe(false)
          else if (given === undefined) expect(valueOf(merged.get(name)!)).toEqual(a[name])
          else if (typeof given !== 'object' || Array.isArray(given)) {
            expect(valueOf(merged.get(name)!)).toEqual(given)
          }
        }
      }),
    )
  })
})

describe('dump', () => {
  const id = fc.constantFrom('a', 'b', 'tool-x', 'policy-y')
  const reference = fc
    .tuple(fc.constantFrom('!env', '!path'), fc.constantFrom('A', 'A ?? ', 'B ?? x, "y" # z'))
    .map(([tag, text]) => ({ tag, text }))
  const text = fc.string({ unit: 'grapheme' })
  const config = fc.dictionary(fc.oneof(key, text), fc.oneof(tree, reference), { maxKeys: 4 })
  const row = fc.record({
    id,
    name: fc.stringMatching(/^[@a-z./-]{1,12}$/),
    config,
    disabled: fc.boolean(),
    optional: fc.boolean(),
  })
  const rows = fc.uniqueArray(row, { selector: (row) => row.id, maxLength: 4 })

  test('composes to the composition it was made from', () => {
    fc.assert(
      fc.property(rows, rows, (own, preset) => {
        // JSON is YAML; only the references need their tags.
        const layer = `- insert: ${json(own)}\n- preset: p\n  rows: ${json(preset)}\n`
        const first = composeText(layer, '/x/layer.yml')
        expect(first.problems).toEqual([])
        const second = composeText(dump(first), '/elsewhere/dump.yml')
        expect(second.problems).toEqual([])
        expect(essence(second)).toEqual(essence(first))
      }),
    )
  })

  test('keeps the environment out', () => {
    const layer = '- insert: [{ id: a, name: x, config: { key: !env TOKEN } }]\n'
    const text = dump(composeText(layer, '/x.yml'))
    expect(text).toContain('!env "TOKEN"')
    expect(text).not.toContain('hunter2')
  })
})

function json(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(json).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if ('tag' in value && 'text' in value) return `${String(value.tag)} ${json(value.text)}`
  const members = Object.entries(value).filter(([name]) => name !== '__proto__' && name !== '<<')
  return `{${members.map(([name, member]) => `${json(name)}: ${json(member)}`).join(', ')}}`
}

function composeText(text: string, file: string): Composition {
  const layer = { kind: 'bundle', name: 'test', file, text } as const
  return compose([layer], { profile: 'p', env: { A: '1', B: '2', TOKEN: 'hunter2' } })
}

function essence({ rows, presets }: Composition): unknown {
  return [rows.map(fields), [...presets.values()].map(({ name, rows }) => [name, rows.map(fields)])]
}

function fields({ id, name, config, written, disabled, optional }: Row): unknown[] {
  return [id, name, config, written, disabled, optional]
}
