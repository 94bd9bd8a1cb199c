import { assistantMessage, userMessage } from '@cordage/core/session'
import { expect, test } from 'vitest'
import { at, said } from './messages.ts'

const source = { kind: 'model', provider: 'p', model: 'm' }

function issueOf(content: unknown, more: object = {}) {
  const message = { id: 'a', role: 'assistant', content, source }
  const data = { ...at, attempt: 1, message, finish: 'stop', ...more }
  return assistantMessage.schema.safeParse(data).error?.issues[0]?.path.join('.')
}

const call = { type: 'tool-call', id: 'a', name: 'f', arguments: '{}' }

test.each([
  [{ ...call, id: 7 }, 'id'],
  [{ ...call, name: {} }, 'name'],
  [{ ...call, arguments: [] }, 'arguments'],
  [{ ...call, wireId: 7 }, 'wireId'],
  [{ type: 'text', text: null }, 'text'],
  [{ type: 'reasoning' }, 'text'],
  [{ type: 'image', blob: { hash: 7 } }, 'blob.hash'],
  [{ type: 7 }, 'type'],
])('an assistant message with the part %j is refused for its %s', (part, member) => {
  expect(issueOf([{ type: 'text', text: 'ok' }, part])).toBe(`message.content.1.${member}`)
})

test('parts and members that are not known are let through', () => {
  const audio = { type: 'audio', data: 7 }
  expect(issueOf([{ ...call, later: 1 }, audio, { type: '__proto__' }])).toBeUndefined()
  expect(userMessage.schema.safeParse({ message: { ...said('a'), later: 1 } }).success).toBe(true)
})

test('a usage that counts nothing is refused', () => {
  const usage = { inputTokens: 1, outputTokens: -1 }
  expect(issueOf([call], { usage })).toBe('usage.outputTokens')
  expect(issueOf([call], { usage: { ...usage, outputTokens: Number.NaN } })).toBe(
    'usage.outputTokens',
  )
})
