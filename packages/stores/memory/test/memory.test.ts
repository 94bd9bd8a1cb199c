import { createRoot, footprint, mount } from '@cordage/core/kernel'
import { textMessage } from '@cordage/core/message'
import {
  sessionTitle,
  turnStart,
  userMessage,
  type Fact,
  type NewFact,
} from '@cordage/core/session'
import memory, { MemoryStore } from '@cordage/store-memory'
import { headerFor, storeContract } from '@cordage/testkit'
import { expect, test } from 'vitest'

storeContract('the store in memory', async () => {
  return { store: new MemoryStore(), dispose: async () => {} }
})

const placed = (facts: readonly NewFact[]): Fact[] => {
  return facts.map((fact, seq) => ({ ...fact, seq, time: 5 }))
}

test('the row provides the store and leaves nothing behind', async () => {
  const root = createRoot()
  const before = footprint(root)
  const row = mount(root, { id: 'store-memory', plugin: memory, config: {}, timeoutMs: 1000 })
  expect(await row.settled()).toEqual({ state: 'active' })
  expect(root.store.location).toBe('memory')
  await row.dispose()
  expect(footprint(root)).toEqual(before)
})

test('a list tells title, first words of a person and turns', async () => {
  const store = new MemoryStore()
  const log = await store.create(headerFor('a'))
  const injected = textMessage('1', 'user', 'injected', {
    kind: 'plugin',
    row: 'r',
    form: 'notice',
  })
  const facts = [
    turnStart({ turn: 1 }),
    userMessage({ message: injected }),
    userMessage({ message: textMessage('2', 'user', 'typed', { kind: 'user' }) }),
    sessionTitle({ title: 'first', by: 'first-words' }),
    sessionTitle({ title: 'second', by: 'model' }),
    turnStart({ turn: 2 }),
  ]
  await log.append(placed(facts), { sync: true })
  expect(await store.list()).toMatchObject([
    { title: 'second', firstWords: 'typed', turns: 2, busy: true },
  ])
})

test('what a caller does to its own objects afterwards changes nothing that is kept', async () => {
  const store = new MemoryStore()
  const log = await store.create(headerFor('a'))
  const bytes = Uint8Array.from([1])
  const hash = await log.putBlob(bytes)
  bytes[0] = 2
  const data = { list: [1] }
  await log.append([{ seq: 0, time: 0, type: 'x/y', v: 1, data }], { sync: true })
  data.list.push(2)
  expect([...(await log.getBlob(hash))]).toEqual([1])
  for await (const fact of log.read(0)) expect(fact.data).toEqual({ list: [1] })
})
