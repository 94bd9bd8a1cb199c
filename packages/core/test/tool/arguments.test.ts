import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { parseArguments } from '../../src/tool/arguments.ts'
import { schemaOf } from '../../src/tool/schema.ts'

const parameters = z.strictObject({
  file_path: z.string().describe('Where'),
  limit: z.number().int().min(1).default(10),
  mode: z.enum(['fast', 'slow']).optional(),
  edits: z.array(z.strictObject({ old: z.string() })).optional(),
})
const problems = (text: string, schema: z.ZodType = parameters): readonly string[] => {
  const parsed = parseArguments(schema, text)
  return parsed.ok ? [] : parsed.problems
}

describe('arguments', () => {
  it('are read with their defaults; nothing at all means none', () => {
    const parsed = parseArguments(parameters, ' {"file_path":"a"} ')
    expect(parsed).toEqual({ ok: true, args: { file_path: 'a', limit: 10 } })
    for (const text of ['', ' \n']) {
      expect(parseArguments(z.object({}), text)).toEqual({ ok: true, args: {} })
    }
  })

  it.each<[string, string]>([
    ['{"file_path":"a"} {"file_path":"b"}', 'after the closing brace of the object comes'],
    ['{"file_path":"}"}garbage', 'after the closing brace of the object comes "garbage"'],
    ['{"file_path":"a', 'cut off before its closing brace'],
    ['{"file_path":"a\\"}', 'cut off before its closing brace'],
    ['nonsense', 'they are not JSON'],
    ['"a"', 'they are "a", and must be one JSON object'],
    ['null', 'they are null, and must be one JSON object'],
    ['[1]', 'they are [1], and must be one JSON object'],
    ['{"path":"a"}', '`file_path` is missing (string); you wrote `path`'],
    ['{}', '`file_path` is missing (string)'],
    ['{"file_path":"a","limt":3}', '`limt` is not a parameter; did you mean `limit`'],
    ['{"file_path":"a","zzzzzzzz":3}', 'the parameters are `file_path`, `limit`, `mode`, `edits`'],
    ['{"file_path":"a","limit":"3"}', '`limit` is "3": expected number'],
    ['{"file_path":"a","limit":0}', '`limit` is 0: '],
    ['{"file_path":"a","mode":"quick"}', '`mode` is "quick": expected one of "fast"|"slow"'],
    ['{"file_path":"a","edits":[{"old":"x","new":"y"}]}', '`edits.0.new` is not a parameter'],
    ['{"file_path":"a","edits":[{}]}', '`edits.0.old` is missing (string)'],
  ])('%s: %s', (text, expected) => {
    expect(problems(text).join('\n')).toContain(expected)
  })

  it('are shown short and without control characters', () => {
    const shown = problems(JSON.stringify({ file_path: ['\u001b[2J\n'.repeat(10_000)] })).join('\n')
    expect(shown.length).toBeLessThan(400)
    // oxlint-disable-next-line no-control-regex
    expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/)
  })

  it('never throw, whatever a model writes', () => {
    const text = fc.oneof(
      fc.string(),
      fc.json(),
      fc.json().map((json) => json.slice(0, -1)),
    )
    fc.assert(
      fc.property(text, (written) => {
        const parsed = parseArguments(parameters, written)
        return parsed.ok || parsed.problems.length > 0
      }),
    )
  })

  it('cannot set a prototype', () => {
    const open = z.looseObject({})
    const parsed = parseArguments(open, '{"__proto__":{"polluted":true}}')
    expect(parsed.ok).toBe(true)
    expect('polluted' in {}).toBe(false)
  })

  it('are explained in time that does not run away, however long', { timeout: 10_000 }, () => {
    expect(problems(`{"file_path":"${'a"b\\'.repeat(300_000)}`)).toHaveLength(1)
  })
})

describe('a schema', () => {
  it('says what a model may write, and nothing that only costs tokens', () => {
    expect(schemaOf(parameters)).toEqual({
      type: 'object',
      properties: {
        file_path: { type: 'string', description: 'Where' },
        limit: { type: 'integer', minimum: 1, default: 10 },
        mode: { type: 'string', enum: ['fast', 'slow'] },
        edits: {
          type: 'array',
          items: { type: 'object', properties: { old: { type: 'string' } }, required: ['old'] },
        },
      },
      required: ['file_path'],
    })
    expect(schemaOf(parameters)).toBe(schemaOf(parameters))
  })

  it('that is no object is a mistake of its author', () => {
    expect(() => schemaOf(z.string())).toThrow(/must be a zod object/)
  })
})
