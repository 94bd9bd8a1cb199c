import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { computeSafeSplitIndex, safeSplitBefore, toolCallsPaired } from '@cordage/core/compaction'
import type { ContentPart, Message } from '@cordage/core/message'

type Said = Pick<Message, 'role' | 'content'>

const user: Said = { role: 'user', content: [{ type: 'text', text: 'go on' }] }
const calls = (...ids: string[]): Said => ({
  role: 'assistant',
  content: ids.map((id): ContentPart => ({ type: 'tool-call', id, name: 't', arguments: '{}' })),
})
const result = (callId: string): Said => ({
  role: 'tool',
  content: [{ type: 'tool-result', callId, name: 't', content: [], isError: false }],
})

/** As the source document has it: one index after the other, both sides looked at anew. */
function splitOneByOne(messages: readonly Said[], keep: number): number {
  for (let index = messages.length - keep; index > 0; index -= 1) {
    const sides = [messages.slice(0, index), messages.slice(index)]
    if (sides.every((side) => toolCallsPaired(side))) return index
  }
  return -1
}

/** Ids are few, so that they repeat; batches come with their results mixed, missing or twice. */
const histories = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constant([user]) },
      {
        weight: 6,
        arbitrary: fc
          .array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 4 })
          .map((ids) => [calls(...ids), ...ids.toReversed().map(result)]),
      },
      { weight: 1, arbitrary: fc.constantFrom([calls('a')], [result('a')], [result('b')]) },
    ),
    { maxLength: 12 },
  )
  .map((groups) => groups.flat())

describe('a safe split', () => {
  it('is the one that looking at both sides of every index finds', () => {
    fc.assert(
      fc.property(histories, fc.nat({ max: 14 }), (messages, keep) => {
        expect(computeSafeSplitIndex(messages, keep)).toBe(splitOneByOne(messages, keep))
      }),
    )
  })

  it('never cuts a parallel batch from one of its results', () => {
    const messages = [user, calls('a', 'b'), result('b'), result('a'), user]
    expect([1, 2, 3, 4].map((keep) => computeSafeSplitIndex(messages, keep))).toEqual([4, 1, 1, 1])
  })

  it('takes calls that share an id for as many calls', () => {
    const messages = [calls('a', 'a'), result('a'), result('a'), calls('a'), result('a'), user]
    expect([1, 2, 3, 4].map((keep) => computeSafeSplitIndex(messages, keep))).toEqual([5, 3, 3, -1])
  })

  it('is nowhere in a history that keeps all, is too short or has a call without a result', () => {
    expect(computeSafeSplitIndex([user, user], 2)).toBe(-1)
    expect(computeSafeSplitIndex([user, user], 3)).toBe(-1)
    expect(computeSafeSplitIndex([user, calls('a')], 1)).toBe(-1)
    expect(safeSplitBefore([], 5)).toBe(-1)
  })

  it('is found in a long history without looking at it once for each index', () => {
    const messages = Array.from({ length: 200_000 }, () => user)
    expect(computeSafeSplitIndex([calls('a'), ...messages, result('a')], 1)).toBe(-1)
  })
})
