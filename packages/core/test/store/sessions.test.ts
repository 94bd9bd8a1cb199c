import {
  createRoot,
  definePlugin,
  footprint,
  mount,
  openScope,
  own,
  type Plugin,
  type Context,
} from '@cordage/core/kernel'
import { coreEvents, turnStart, type SessionHeader } from '@cordage/core/session'
import coreStore from '@cordage/core/store'
import { expect, test } from 'vitest'
import memory, { MemoryStore } from '../../../stores/memory/src/index.ts'
import { pictureOf, user } from '../session/messages.ts'
import { counted } from '../session/random-log.ts'

class SlowStore extends MemoryStore {
  override async create(header: SessionHeader) {
    const log = await super.create(header)
    await new Promise((resolve) => setTimeout(resolve, 20))
    return log
  }
}

const project = { project: '/p', depth: 0 }
const timeoutMs = 1000

async function boot(store: Plugin = memory) {
  const root = createRoot()
  const before = footprint(root)
  const rows = [
    mount(root, { id: 'store-memory', plugin: store, config: {}, timeoutMs }),
    mount(root, { id: 'core-session', plugin: coreStore, config: {}, timeoutMs }),
  ]
  for (const row of rows) await row.settled()
  const [storeRow, sessionRow] = rows
  if (!storeRow || !sessionRow) throw new Error('unreachable')
  return { root, before, storeRow, sessionRow, sessions: root.sessions }
}

async function mountPlugin(root: Context, id: string, apply: (ctx: Context) => void) {
  const row = mount(root, { id, plugin: definePlugin({ name: id, apply }), config: {}, timeoutMs })
  const state = await row.settled()
  return { row, state }
}

test('a session is made, closed and opened again with what it held', async () => {
  const { sessions } = await boot()
  const made = await sessions.create({ ...project, preset: 'standard' })
  expect(made.header).toMatchObject({ format: 1, id: made.id, project: '/p', preset: 'standard' })
  expect(sessions.list()).toEqual([made])
  await made.append([user('hi')])
  await made.close()
  expect(sessions.list()).toEqual([])
  const opened = await sessions.open(made.id)
  expect(opened.header).toEqual(made.header)
  expect(pictureOf(opened.surface)).toEqual(['hi'])
})

test('ids sort in the order in which sessions were made', async () => {
  const { sessions } = await boot()
  const ids: string[] = []
  for (let count = 0; count < 100; count += 1) ids.push((await sessions.create(project)).id)
  expect([...ids].sort()).toEqual(ids)
  expect(new Set(ids).size).toBe(100)
})

test('a session has one writer in a process too', async () => {
  const { sessions } = await boot()
  const { id } = await sessions.create(project)
  await expect(sessions.open(id)).rejects.toMatchObject({ code: 'SESSION_BUSY' })
  expect((await sessions.open(id, { mode: 'read' })).writable).toBe(false)
  await expect(sessions.open('none')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
})

test('unloading closes every session, and the store only after them, and leaves nothing', async () => {
  const trail: string[] = []
  const store = new MemoryStore()
  const tracing = definePlugin({
    name: 'tracing-store',
    provides: ['store'],
    apply: (ctx) => own(ctx, 'store', store, () => trail.push('store closed')),
  })
  const { root, before, sessions, storeRow, sessionRow } = await boot(tracing)
  const session = await sessions.create(project)
  const late = session.append([user('hi')], { sync: false }).then(() => trail.push('written'))
  await storeRow.dispose()
  await late
  expect(trail).toEqual(['written', 'store closed'])
  await expect(session.append([user('x')])).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
  await expect(sessions.create(project)).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
  await sessionRow.dispose()
  expect(footprint(root)).toEqual(before)
  expect((await store.list())[0]?.busy).toBeUndefined()
})

test('a session that is still being opened when its row unloads is closed too', async () => {
  const store = new SlowStore()
  const plugin = definePlugin({
    name: 'slow-store',
    provides: ['store'],
    apply: (ctx) => own(ctx, 'store', store),
  })
  const { sessions, sessionRow } = await boot(plugin)
  const opening = sessions.create(project)
  await sessionRow.dispose()
  const session = await opening
  await expect(session.append([user('x')])).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
  expect((await store.list())[0]?.busy).toBeUndefined()
})

test('kinds of core are always known and cannot be redefined', async () => {
  const { root, sessions } = await boot()
  expect(sessions.events.get('turn/start')?.type).toBe('turn/start')
  expect(sessions.events.list()).toEqual(coreEvents)
  const { state } = await mountPlugin(root, 'bad', (ctx) =>
    sessions.events.register(ctx, turnStart),
  )
  expect(state).toMatchObject({ state: 'failed' })
})

test('a kind is known while its plugin is loaded, and its state outlives that', async () => {
  const { root, sessions } = await boot()
  const session = await sessions.create(project)
  await session.append([counted({ by: 1 })])
  const register = (ctx: Context) => sessions.events.register(ctx, counted)
  const { row } = await mountPlugin(root, 'counter', register)
  expect(sessions.events.get(counted.type)).toBe(counted)
  expect(session.state(counted)).toBe(1)
  const bad = { ...counted({ by: 1 }), data: { by: 'x' } }
  await expect(session.append([bad])).rejects.toMatchObject({ code: 'EVENT_INVALID' })
  await row.dispose()
  expect(sessions.events.get(counted.type)).toBeUndefined()
  await session.append([counted({ by: 5 })])
  await session.close()
  const again = await sessions.open(session.id)
  await mountPlugin(root, 'counter', register)
  expect(again.state(counted)).toBe(6)
})

test('a row may register its kind in many scopes, another row may not', async () => {
  const { root, sessions } = await boot()
  const { row } = await mountPlugin(root, 'counter', (ctx) => {
    sessions.events.register(openScope(ctx, 'agent 1').ctx, counted)
    sessions.events.register(openScope(ctx, 'agent 2').ctx, counted)
  })
  expect(sessions.events.list().at(-1)).toBe(counted)
  const other = await mountPlugin(root, 'other', (ctx) => sessions.events.register(ctx, counted))
  expect(other.state).toMatchObject({ state: 'failed' })
  await row.dispose()
  expect(sessions.events.get(counted.type)).toBeUndefined()
})
