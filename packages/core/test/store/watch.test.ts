import { createRoot, definePlugin, mount } from '@cordage/core/kernel'
import type { LiveDelta, SessionUpdate } from '@cordage/core/session'
import { expect, test } from 'vitest'
import { user } from '../session/messages.ts'
import { newSession } from './faulty-log.ts'

const delta: LiveDelta = { turn: 1, step: 1, attempt: 1, kind: 'text', text: 'hel' }

const words = (updates: readonly SessionUpdate[]) => {
  return updates.map((update) => (update.kind === 'fact' ? update.fact.seq : update.delta.text))
}

test('watchers get facts and deltas in one order', async () => {
  const { session } = await newSession()
  const seen: SessionUpdate[] = []
  session.watch(createRoot(), (update) => void seen.push(update))
  const first = session.append([user('a'), user('b')])
  session.delta(delta)
  session.delta({ ...delta, text: 'lo' })
  const second = session.append([user('c')])
  expect(words(seen)).toEqual([0, 1, 'hel', 'lo', 2])
  await Promise.all([first, second])
})

test('a watcher may append: everybody sees both batches in order, and so does the log', async () => {
  const { session, log } = await newSession()
  const root = createRoot()
  const seen: [SessionUpdate[], SessionUpdate[]] = [[], []]
  const nested: Promise<unknown>[] = []
  session.watch(root, (update) => {
    seen[0].push(update)
    if (update.kind === 'fact' && update.fact.seq === 0) nested.push(session.append([user('c')]))
  })
  session.watch(root, (update) => void seen[1].push(update))
  await session.append([user('a'), user('b')])
  await Promise.all(nested)
  expect(words(seen[0])).toEqual([0, 1, 2])
  expect(words(seen[1])).toEqual([0, 1, 2])
  expect(log.batches.flatMap((batch) => batch.facts).map((fact) => fact.seq)).toEqual([0, 1, 2])
})

test('a watcher that throws or rejects is logged and keeps nobody from anything', async () => {
  const records: string[] = []
  const root = createRoot({ log: (record) => void records.push(record.text) })
  const { session } = await newSession()
  const seen: SessionUpdate[] = []
  session.watch(root, () => {
    throw new Error('thrown')
  })
  session.watch(root, async () => {
    throw new Error('rejected')
  })
  session.watch(root, (update) => void seen.push(update))
  await session.append([user('a')])
  session.delta(delta)
  expect(words(seen)).toEqual([0, 'hel'])
  await new Promise((resolve) => setTimeout(resolve, 1))
  expect(records.filter((text) => text.includes('thrown'))).toHaveLength(2)
  expect(records.filter((text) => text.includes('rejected'))).toHaveLength(2)
})

test('a watcher hears nothing more once it is stopped or its plugin is unloaded', async () => {
  const { session } = await newSession()
  const root = createRoot()
  const seen: string[] = []
  const stop = session.watch(root, () => void seen.push('root'))
  const plugin = definePlugin({
    name: 'watcher',
    apply: (ctx) => void session.watch(ctx, () => void seen.push('plugin')),
  })
  const row = mount(root, { id: 'watcher', plugin, config: {}, timeoutMs: 1000 })
  await row.settled()
  await session.append([user('a')])
  expect(seen).toEqual(['root', 'plugin'])
  stop()
  await row.dispose()
  await session.append([user('b')])
  expect(seen).toEqual(['root', 'plugin'])
})

test('a closed session publishes nothing', async () => {
  const { session } = await newSession()
  const seen: SessionUpdate[] = []
  session.watch(createRoot(), (update) => void seen.push(update))
  await session.close()
  session.delta(delta)
  expect(seen).toEqual([])
})
