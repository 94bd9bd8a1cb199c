import { expect, test } from 'vitest'
import { textMessage, type Message } from '@cordage/core/message'
import { attemptStart, requestAt, requestHeader, requestMessages } from '@cordage/core/session'
import { assistant, at, pictureOf, user } from './messages.ts'
import { factsOf, foldOf } from './random-log.ts'

const route = { provider: 'p', model: 'm' }
const header = requestHeader({ ...route, params: {}, tools: [], reason: 'initial', origin: [] })

test('the request is what stood before the first attempt of its step', async () => {
  const facts = factsOf([
    user('hi'),
    header,
    attemptStart({ ...at, attempt: 1 }),
    assistant('hello'),
    user('more'),
    attemptStart({ turn: 1, step: 2, attempt: 1 }),
  ])
  const first = await requestAt(facts, 1, 1)
  expect(first?.header).toEqual(header.data)
  expect(first?.messages.map(({ message }) => message.id)).toEqual(['hi'])
  const second = await requestAt(facts, 1, 2)
  expect(second?.messages.map(({ message }) => message.id)).toEqual(['hi', 'a-hello', 'more'])
})

test('a step that sent nothing has no request', async () => {
  const facts = factsOf([user('hi'), header, attemptStart({ ...at, attempt: 1 })])
  expect(await requestAt(facts, 1, 2)).toBeUndefined()
  expect(await requestAt(facts, 2, 1)).toBeUndefined()
})

test('replay state goes to the route that made it and to no other', () => {
  const facts = factsOf([user('hi'), assistant('hello', [], { replay: { id: 'secret' } })])
  const { surface } = foldOf(facts)
  expect(requestMessages(surface, route)[1]).toHaveProperty('replay', { id: 'secret' })
  expect(JSON.stringify(requestMessages(surface, { ...route, model: 'n' }))).not.toContain('secret')
  expect(JSON.stringify(requestMessages(surface, { ...route, provider: 'q' }))).not.toContain(
    'secret',
  )
})

test('another route gets reasoning as text, without its opaque part', () => {
  const source = { kind: 'model', ...route } as const
  const thought = { type: 'reasoning' as const, text: 'hm', replay: 'secret' }
  const message: Message = { ...textMessage('a', 'assistant', 'hi', source), content: [thought] }
  const surface = [{ seq: 0, message }]
  expect(requestMessages(surface, route)[0]?.message).toBe(message)
  expect(requestMessages(surface, { ...route, model: 'n' })[0]?.message.content).toEqual([
    { type: 'reasoning', text: 'hm' },
  ])
  expect(pictureOf(surface)).toEqual([''])
})
