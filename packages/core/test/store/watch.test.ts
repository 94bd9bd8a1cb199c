import { createRoot, definePlugin, mount } from '@cordage/core/kernel'
import type { LiveDelta, SessionUpdate } from '@cordage/core/session'
import { expect, test } from 'vitest'
import { user } from '../session/messages.ts'
import { newSession } from './faulty-log.ts'

const delta: LiveDelta = { turn: 1, step: 1, attempt: 1, kind: 'text', text: 'hel' }

const words = (updates: readonly SessionUpdate[]) => {
  return updates.map((update) => (update.kind === 'fact' ? update.fact.seq : update.delta.text))
}

test('watchers get facts and deltas in one order, a fact when the log has it', async () => {
  const { session, log } = await newSession()
  const seen: SessionUpdate[] = []
  let early = false
  session.watch(createRoot(), (update) => {
    seen.push(update)
    const written = log.batches.flatMap((batch) => batch.facts)
    if (update.kind === 'fact') early ||= !written.includes(update.fact)
  })
  const first = session.append([user('a'), user('b')])
  session.delta(delta)
  session.delta({ ...delta, text: 'lo' })
  const second = session.append([user('c')])
  expect(words(seen)).toEqual([])
  await Promise.all([first, second])
  expect(words(seen)).toEqual([0, 1, 'hel', 'lo', 2])
  session.delta(delta)
  expect(words(seen)).toEqual([0, 1, 'hel', 'lo', 2, 'hel'])
  expect(early).toBe(false)
})

test('watchers hear nothing of what could not be written, until it is, once', async () => {
  const { session, log } = await newSession()
  const seen: SessionUpdate[] = []
  session.watch(createRoot(), (update) => void seen.push(update))
  log.fail = new Error('full')
  await expect(session.append([user('a')])).rejects.toThrow()
  session.delta(delta)
  expect(words(seen)).toEqual([])
  log.fail = undefined
  await session.append([user('b')])
  expect(words(seen)).toEqual([0, 'hel', 1])
})

test('watchers hear what a close still writes, and then that it is over', async () => {
  const { session } = await newSession()
  const seen: (number | string)[] = []
  session.watch(
    createRoot(),
    (update) => void seen.push(...words([update])),
    () => void seen.push('over'),
  )
  await session.append([user('a')], { later: true })
  expect(seen).toEqual([])
  await session.close()
  expect(seen).toEqual([0, 'over'])
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
