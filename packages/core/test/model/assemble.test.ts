import { createAssembler, type ModelEvent } from '@cordage/core/model'
import { describe, expect, it } from 'vitest'

function assemble(events: readonly ModelEvent[], taken: readonly string[] = []) {
  let made = 0
  const assembler = createAssembler({
    newId: () => `new${(made += 1)}`,
    isTaken: (id) => taken.includes(id),
  })
  for (const event of events) assembler.push(event)
  return assembler.finish()
}

const call = (index: number, more: object) => ({ type: 'tool-call' as const, index, ...more })

describe('the assembler', () => {
  it('keeps the order in which parts arrive', () => {
    const { content } = assemble([
      { type: 'reasoning', text: 'a' },
      { type: 'reasoning', text: 'b', replay: 1 },
      { type: 'reasoning', text: '', replay: 2 },
      { type: 'text', text: 'one' },
      { type: 'text', text: ' two' },
      call(0, { id: 'c', name: 'read' }),
      { type: 'text', text: 'three' },
    ])
    expect(content).toEqual([
      { type: 'reasoning', text: 'ab', replay: 1 },
      { type: 'reasoning', text: '', replay: 2 },
      { type: 'text', text: 'one two' },
      { type: 'tool-call', id: 'c', name: 'read', arguments: '' },
      { type: 'text', text: 'three' },
    ])
  })

  it('joins interleaved and reordered calls, names in pieces included', () => {
    const { content } = assemble([
      call(1, { id: 'b', name: 'wri' }),
      call(0, { id: 'a', name: 'read', arguments: '{"x"' }),
      call(1, { name: 'te', arguments: '{' }),
      call(0, { name: 'read', arguments: ':1}' }),
      call(1, { arguments: '}' }),
    ])
    expect(content).toEqual([
      { type: 'tool-call', id: 'b', name: 'write', arguments: '{}' },
      { type: 'tool-call', id: 'a', name: 'read', arguments: '{"x":1}' },
    ])
  })

  it('ignores arguments that are repeated whole at the end, but not equal pieces', () => {
    const { content } = assemble([
      call(0, { id: 'a', name: 'f', arguments: '{"x":' }),
      call(0, { arguments: '1}' }),
      call(0, { arguments: '{"x":1}' }),
      call(1, { id: 'b', name: 'f', arguments: '["' }),
      call(1, { arguments: '["' }),
      call(1, { arguments: ']' }),
    ])
    expect(content).toMatchObject([{ arguments: '{"x":1}' }, { arguments: '["["]' }])
  })

  it('rewrites ids that are empty, repeated or taken, and keeps those of the wire', () => {
    const { content } = assemble(
      [
        call(0, { id: 'x', name: 'f' }),
        call(1, { id: 'x', name: 'f' }),
        call(2, { id: 'old', name: 'f' }),
        call(3, { name: 'f' }),
        call(3, { id: 'late' }),
      ],
      ['old'],
    )
    expect(content).toMatchObject([
      { id: 'x' },
      { id: 'new1', wireId: 'x' },
      { id: 'new2', wireId: 'old' },
      { id: 'new3', wireId: 'late' },
    ])
    expect(content[0]).not.toHaveProperty('wireId')
  })

  it('tells an unfinished answer from a finished one and white space from text', () => {
    const blank = assemble([{ type: 'text', text: ' \n' }])
    expect(blank).toMatchObject({ finish: undefined, hasText: false, truncated: false })
    const usage = { inputTokens: 3, outputTokens: 2 }
    const cut = assemble([
      { type: 'usage', usage: { inputTokens: 1, outputTokens: 1 } },
      { type: 'reasoning', text: 'x' },
      { type: 'usage', usage },
      { type: 'finish', reason: 'max-tokens', replay: { id: 1 } },
    ])
    expect(cut).toMatchObject({ truncated: true, hasReasoning: true, usage, replay: { id: 1 } })
  })

  it.each([
    [{ type: 'text', text: 5 }],
    [{ type: 'reasoning', text: null }],
    [call(0, { id: 7 })],
    [call(0, { id: 'a', name: {} })],
    [call(0, { id: 'a', name: 'f', arguments: [] })],
    [{ type: 'finish', reason: {} }],
  ])('refuses what an adapter has not checked: %j', (event) => {
    const assembler = createAssembler({ model: 'a/b' })
    expect(() => assembler.push(event as ModelEvent)).toThrow(
      expect.objectContaining({ code: 'MALFORMED_RESPONSE', retryable: false }),
    )
    expect(assembler.finish().content).toEqual([])
  })

  it('keeps the last usage that counts something', () => {
    const usage = { inputTokens: 3, outputTokens: 2, estimated: true }
    const odd = { inputTokens: Number.NaN, outputTokens: 2 }
    const events: ModelEvent[] = [
      { type: 'usage', usage: { ...usage, reasoningTokens: -1 } },
      { type: 'usage', usage: odd },
    ]
    expect(assemble(events).usage).toEqual(usage)
    expect(assemble([{ type: 'usage', usage: odd }]).usage).toBeUndefined()
  })

  it('refuses an answer without bound', () => {
    const assembler = createAssembler({ model: 'a/b' })
    const text = 'x'.repeat(8 * 1024 * 1024)
    for (let times = 0; times < 4; times += 1) assembler.push({ type: 'text', text })
    expect(() => assembler.push({ type: 'text', text: 'x' })).toThrow(
      expect.objectContaining({ code: 'MALFORMED_RESPONSE' }),
    )
  })
})
