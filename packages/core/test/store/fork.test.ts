import { createRoot, definePlugin, mount } from '@cordage/core/kernel'
import {
  compactionStart,
  inboxSplice,
  sessionTitle,
  turnEnd,
  turnStart,
  type Fact,
  type Session,
  type SessionUpdate,
} from '@cordage/core/session'
import coreStore from '@cordage/core/store'
import { expect, test } from 'vitest'
import memory from '../../../stores/memory/src/index.ts'
import { assistant, pictureOf, said, user } from '../session/messages.ts'

const timeoutMs = 1000

async function boot() {
  const root = createRoot()
  for (const [id, plugin] of [
    ['store', memory],
    ['session', coreStore],
  ] as const) {
    await mount(root, { id, plugin, config: {}, timeoutMs }).settled()
  }
  return { root, sessions: root.sessions }
}

const turn = (number: number, text: string) => [
  turnStart({ turn: number }),
  user(text),
  assistant(`to ${text}`),
  turnEnd({ turn: number, reason: 'completed' }),
]

async function codeOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: { code?: string }) => error.code,
  )
}

async function factsOf(session: Session): Promise<Fact[]> {
  const facts: Fact[] = []
  for await (const fact of session.read()) facts.push(fact)
  return facts
}

test('a fork begins with the history and goes its own way', async () => {
  const { sessions } = await boot()
  const parent = await sessions.create({ project: '/p', depth: 0, preset: 'standard' })
  await parent.append([sessionTitle({ title: 'kept', by: 'user' }), ...turn(1, 'one')])
  const fork = await sessions.fork(parent.id)
  expect(fork.header).toMatchObject({
    project: '/p',
    preset: 'standard',
    depth: 0,
    parent: { id: parent.id, kind: 'fork', seq: 5 },
  })
  expect(fork.id).not.toBe(parent.id)
  expect(await factsOf(fork)).toEqual(await factsOf(parent))
  await fork.append(turn(2, 'mine'))
  await parent.append(turn(2, 'theirs'))
  expect(pictureOf(fork.surface)).toEqual(['one', 'to one', 'mine', 'to mine'])
  expect(pictureOf(parent.surface)).toEqual(['one', 'to one', 'theirs', 'to theirs'])
  expect(sessions.list()).toEqual([parent, fork])
})

test('a fork may begin where any turn did, and in another project', async () => {
  const { sessions } = await boot()
  const parent = await sessions.create({ project: '/p', depth: 2 })
  await parent.append([...turn(1, 'one'), ...turn(2, 'two'), ...turn(3, 'three')])
  const pictures = []
  for (const number of [1, 2, 3]) {
    const fork = await sessions.fork(parent.id, { turn: number, project: '/other' })
    expect(fork.header).toMatchObject({ project: '/other', depth: 0 })
    pictures.push(pictureOf(fork.surface))
  }
  expect(pictures).toEqual([[], ['one', 'to one'], ['one', 'to one', 'two', 'to two']])
  const exact = await sessions.fork(parent.id, { before: 4 })
  expect(exact.nextSeq).toBe(4)
  expect(await codeOf(sessions.fork(parent.id, { turn: 4 }))).toBe('TURN_UNKNOWN')
  expect(await codeOf(sessions.fork(parent.id, { before: 99 }))).toBe('STORE_DAMAGED')
})

test('a fork never begins inside a turn', async () => {
  const { sessions } = await boot()
  const parent = await sessions.create({ project: '/p', depth: 0 })
  await parent.append(turn(1, 'one'))
  for (const before of [1, 2, 3]) {
    expect(await codeOf(sessions.fork(parent.id, { before })), `${before}`).toBe('OPEN_TURN')
  }
  await parent.append([turnStart({ turn: 2 }), user('two')])
  expect(await codeOf(sessions.fork(parent.id))).toBe('OPEN_TURN')
  const fork = await sessions.fork(parent.id, { turn: 2 })
  expect(pictureOf(fork.surface)).toEqual(['one', 'to one'])
})

test('a fork of the turn that runs begins before it, without the past being read', async () => {
  const { root, sessions } = await boot()
  const parent = await sessions.create({ project: '/p', depth: 0 })
  await parent.append(turn(1, 'one'))
  await parent.close()
  const owner = await sessions.open(parent.id)
  await owner.append(turn(2, 'two'))
  const before = owner.nextSeq
  await owner.append([turnStart({ turn: 3 }), user('three')])
  expect(owner.turn).toMatchObject({ turn: 3, since: before, open: true })

  const { store } = root
  const read: number[] = []
  const open = store.open.bind(store)
  store.open = async (...args) => {
    const log = await open(...args)
    const facts = log.read.bind(log)
    log.read = (from) => {
      read.push(from)
      return facts(from)
    }
    return log
  }
  const fork = await sessions.fork(owner.id, { turn: 3, depth: 1 })
  expect(read).toEqual([])
  expect(fork.header).toMatchObject({ depth: 1, parent: { id: owner.id, seq: before } })
  expect(pictureOf(fork.surface)).toEqual(['one', 'to one', 'two', 'to two'])
  expect(fork.turn.open).toBe(false)
  const deeper = await sessions.fork(fork.id, { depth: 2 })
  expect(pictureOf(deeper.surface)).toEqual(pictureOf(fork.surface))
  await sessions.fork(owner.id, { turn: 2 })
  expect(read).toEqual([0])
})

test('a turn that begins within another one is no place to fork at', async () => {
  const { sessions } = await boot()
  const parent = await sessions.create({ project: '/p', depth: 0 })
  await parent.append([turnStart({ turn: 1 }), user('one'), turnStart({ turn: 2 })])
  expect(await codeOf(sessions.fork(parent.id, { turn: 2 }))).toBe('OPEN_TURN')
})

test('a fork leaves the inbox and open compactions to its parent', async () => {
  const { sessions } = await boot()
  const parent = await sessions.create({ project: '/p', depth: 0 })
  const inserted = [{ queue: 'next-turn' as const, message: said('later') }]
  await parent.append([...turn(1, 'one'), inboxSplice({ inserted, cause: 'send' })])
  await parent.append([compactionStart({ id: 'c' })])
  const fork = await sessions.fork(parent.id)
  expect(fork.inbox).toEqual([])
  expect(parent.inbox).toHaveLength(1)
  const types = (await factsOf(fork)).slice(parent.nextSeq).map(({ type }) => type)
  expect(types).toEqual(['inbox/splice', 'compaction/end'])
  await fork.close()
  const again = await sessions.open(fork.id)
  await again.repair()
  expect(again.nextSeq).toBe(parent.nextSeq + 2)
})

test('a view follows its owner while somebody watches, and no longer', async () => {
  const { root, sessions } = await boot()
  const owner = await sessions.create({ project: '/p', depth: 0 })
  await owner.append([user('a')])
  const view = await sessions.open(owner.id, { mode: 'read' })
  const seen: SessionUpdate[] = []
  const plugin = definePlugin({
    name: 'watcher',
    apply: (ctx) => void view.watch(ctx, (update) => void seen.push(update)),
  })
  const row = mount(root, { id: 'watcher', plugin, config: {}, timeoutMs })
  await row.settled()
  await owner.append([user('b'), user('c')])
  owner.delta({ turn: 1, step: 1, attempt: 1, kind: 'text', text: 'live' })
  await expect.poll(() => seen.length, { timeout: 3000 }).toBe(3)
  const facts = seen.flatMap((update) => (update.kind === 'fact' ? [update.fact.seq] : []))
  expect(facts).toEqual([1, 2])
  expect(seen.at(-1)).toMatchObject({ kind: 'delta', delta: { text: 'live' } })
  expect(pictureOf(view.surface)).toEqual(['a', 'b', 'c'])
  expect(await factsOf(view)).toEqual(await factsOf(owner))
  await row.dispose()
  await owner.append([user('d')])
  await new Promise((resolve) => setTimeout(resolve, 600))
  expect(view.nextSeq).toBe(3)
  view.watch(root, (update) => void seen.push(update))
  await expect.poll(() => view.nextSeq, { timeout: 3000 }).toBe(4)
  await view.close()
  await owner.append([user('e')])
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(view.nextSeq).toBe(4)
})
