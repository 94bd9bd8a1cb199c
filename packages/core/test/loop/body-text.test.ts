import { deepFreeze, digest } from '@cordage/core/session'
import {
  array,
  assert,
  boolean,
  constant,
  constantFrom,
  jsonValue,
  nat,
  oneof,
  property,
  record,
  string,
} from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BodyText } from '../../src/loop/body-text.ts'

const member = oneof(
  record({ role: constantFrom('user', 'assistant'), content: string({ unit: 'binary' }) }),
  jsonValue(),
  constant(undefined),
)

describe('the text of a body', () => {
  it('is its JSON with the digest of it, whatever was written before', () => {
    const change = record({
      added: array(member, { maxLength: 3 }),
      removed: nat(2),
      frozen: boolean(),
      first: boolean(),
      model: constantFrom('a', 'b', undefined),
    })
    assert(
      property(array(change, { maxLength: 12 }), (changes) => {
        const bodies = new BodyText()
        let messages: unknown[] = []
        for (const { added, removed, frozen, first, model } of changes) {
          const kept = messages.slice(0, messages.length - removed)
          messages = [...kept, ...(frozen ? deepFreeze(added) : added)]
          const rest = { model, tools: deepFreeze([{ name: 'x' }]) }
          const body = first ? { messages, ...rest } : { ...rest, messages }
          const written = bodies.write(body)
          expect(written.text()).toBe(JSON.stringify(body))
          expect(written.digest).toBe(digest(JSON.stringify(body)))
        }
      }),
    )
  })

  it('has what became of a member that is not frozen', () => {
    const bodies = new BodyText()
    const message = { role: 'user', content: 'a' }
    bodies.write({ messages: [message] })
    message.content = 'b'
    expect(bodies.write({ messages: [message] }).text()).toBe(
      JSON.stringify({ messages: [message] }),
    )
  })

  it.each([[[1, { a: 2 }]], ['text'], [null], [new Date(0)], [{ list: [], none: undefined }]])(
    'is the JSON of %j',
    (body) => {
      expect(new BodyText().write(body).text()).toBe(JSON.stringify(body))
    },
  )

  it('does not write a frozen member again', () => {
    let written = 0
    const message = Object.freeze({ toJSON: () => `message ${(written += 1)}` })
    const bodies = new BodyText()
    for (let step = 0; step < 3; step += 1) bodies.write({ messages: [message] })
    expect(written).toBe(1)
  })
})
