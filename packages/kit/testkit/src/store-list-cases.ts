import { textMessage } from '@cordage/core/message'
import {
  inboxSplice,
  sessionArchived,
  sessionTitle,
  userMessage,
  type NewFact,
} from '@cordage/core/session'
import type { Store } from '@cordage/core/store'
import { expect, it } from 'vitest'
import { factsFrom, headerFor, makeSession, type UseStore } from './store-fixture.ts'

export function listCases(use: UseStore): void {
  const ids = async (options?: Parameters<Store['list']>[0]) => {
    return (await use().store.list(options)).map(({ header }) => header.id)
  }

  it('is empty at first', async () => {
    expect(await use().store.list()).toEqual([])
  })

  it('names the sessions, last appended to first', async () => {
    const { store } = use()
    for (const id of ['a', 'b', 'c']) await makeSession(store, headerFor(id))
    const log = await store.open('a', { mode: 'write' })
    await log.append(factsFrom(1, 1), { sync: true })
    await log.close()
    expect(await ids()).toEqual(['a', 'c', 'b'])
    expect(await ids({ limit: 2 })).toEqual(['a', 'c'])
    const [first] = await store.list()
    expect(first?.header).toEqual(headerFor('a'))
    expect(first?.bytes).toBeGreaterThan(0)
    expect(Math.abs((first?.updatedAt ?? 0) - Date.now())).toBeLessThan(60_000)
  })

  it('picks a project, and leaves children out unless asked', async () => {
    const { store } = use()
    const parent = { id: 'mine', kind: 'spawn' } as const
    await makeSession(store, headerFor('mine', { project: '/mine' }))
    await makeSession(store, headerFor('other', { project: '/other' }))
    await makeSession(store, headerFor('child', { project: '/mine', parent, depth: 1 }))
    expect(await ids({ project: '/mine' })).toEqual(['mine'])
    expect(await ids({ project: '/mine', children: true })).toEqual(['child', 'mine'])
    expect(await ids({ project: '/mine', limit: 1 })).toEqual(['mine'])
  })

  it('picks by the beginning of the id, as people type it', async () => {
    const { store } = use()
    for (const id of ['Ab1', 'ab2', 'b-ab']) await makeSession(store, headerFor(id))
    expect(await ids({ idPrefix: 'AB' })).toEqual(['ab2', 'Ab1'])
    expect(await ids({ idPrefix: 'ab1' })).toEqual(['Ab1'])
    expect(await ids({ idPrefix: '../ab' })).toEqual([])
    expect(await ids({ idPrefix: '' })).toHaveLength(3)
  })

  it('takes for children what has a depth, whatever made it', async () => {
    const { store } = use()
    for (const kind of ['fork', 'spawn'] as const) {
      const parent = { id: 'somebody', kind }
      await makeSession(store, headerFor(`${kind}-0`, { parent }))
      await makeSession(store, headerFor(`${kind}-1`, { parent, depth: 1 }))
    }
    expect((await ids()).sort()).toEqual(['fork-0', 'spawn-0'])
    expect(await ids({ children: true })).toHaveLength(4)
  })

  it('tells times in whole milliseconds', async () => {
    const { store } = use()
    for (const id of ['a', 'b', 'c']) await makeSession(store, headerFor(id))
    const times = (await store.list()).map(({ updatedAt }) => updatedAt)
    expect(times).toEqual(times.map(Math.trunc))
  })
}

const typed = (text: string) => textMessage(`id ${text}`, 'user', text, { kind: 'user' })

const notice = textMessage('n', 'user', 'injected', { kind: 'plugin', row: 'r', form: 'notice' })
const queued = (text: string) =>
  inboxSplice({ inserted: [{ queue: 'next-turn', message: typed(text) }], cause: 'send' })

export function wordCases(use: UseStore): void {
  const make = async (id: string, facts: readonly NewFact[]) => {
    const log = await use().store.create(headerFor(id))
    const placed = facts.map((fact, seq) => ({ ...fact, seq, time: 5 }))
    for (const fact of placed) await log.append([fact], { sync: false })
    return log
  }
  const words = async () => {
    const [only] = await use().store.list()
    return { title: only?.title, firstWords: only?.firstWords }
  }

  it('has the first words that a person said, on one line', async () => {
    const facts = [userMessage({ message: notice }), queued(' fix\n\tit 请 '), queued('and this')]
    await (await make('said', facts)).close()
    expect(await words()).toEqual({ title: undefined, firstWords: 'fix it 请' })
  })

  it('has the last title, also while somebody owns the session', async () => {
    const facts = [
      sessionTitle({ title: 'first', by: 'first-words' }),
      userMessage({ message: typed('x'.repeat(500)) }),
      sessionTitle({ title: 'second', by: 'model' }),
    ]
    const log = await make('titled', facts)
    expect(await words()).toEqual({ title: 'second', firstWords: 'x'.repeat(80) })
    await log.close()
    expect(await words()).toEqual({ title: 'second', firstWords: 'x'.repeat(80) })
  })

  it('leaves out what was put away, until it is taken out again', async () => {
    const { store } = use()
    const listed = async (archived: boolean) =>
      (await store.list({ archived })).map((one) => [one.header.id, one.archived])
    await (await make('away', [sessionArchived({ archived: true })])).close()
    expect(await listed(false)).toEqual([])
    expect(await listed(true)).toEqual([['away', true]])
    const log = await store.open('away', { mode: 'write' })
    await log.append([{ ...sessionArchived({ archived: false }), seq: 1, time: 6 }], { sync: true })
    await log.close()
    expect(await listed(false)).toEqual([['away', false]])
  })

  it('lists a session whose facts are not what their types say', async () => {
    const strange = [null, 1, [], { title: 7 }, { message: 'none' }, { inserted: [{}] }]
    const types = ['session/title', 'user/message', 'inbox/splice']
    const facts = types.flatMap((type) => strange.map((data) => ({ type, v: 1, data })))
    await (await make('strange', facts)).close()
    expect(await words()).toEqual({ title: undefined, firstWords: undefined })
  })
}
