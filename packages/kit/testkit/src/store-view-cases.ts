import type { SessionLog } from '@cordage/core/store'
import { expect, it } from 'vitest'
import { codeOf, factsFrom, headerFor, type UseStore } from './store-fixture.ts'

/** What a view has heard since it was asked last. */
async function grown(view: SessionLog) {
  const { facts, live } = await view.refresh()
  return [facts, live]
}

export function viewCases(use: UseStore): void {
  it('gives a view what its owner adds, once', async () => {
    const { store } = use()
    const owner = await store.create(headerFor('watched'))
    await owner.append(factsFrom(0, 1), { sync: true })
    const view = await store.open('watched', { mode: 'read' })
    expect(await grown(view)).toEqual([[], []])
    await owner.append(factsFrom(1, 2), { sync: true })
    expect(await grown(view)).toEqual([factsFrom(1, 2), []])
    expect(await grown(view)).toEqual([[], []])
    await owner.close()
    const next = await store.open('watched', { mode: 'write' })
    await next.append(factsFrom(3, 1), { sync: true })
    expect(await grown(view)).toEqual([factsFrom(3, 1), []])
    await next.close()
    expect(await grown(view)).toEqual([[], []])
    await view.close()
  })

  it('gives a view the lines of the live lane as they come, and those after it was emptied', async () => {
    const { store } = use()
    const owner = await store.create(headerFor('live-view'))
    const view = await store.open('live-view', { mode: 'read' })
    const next = async () => {
      for (let round = 0; round < 200; round++) {
        const { live } = await view.refresh()
        if (live.length > 0) return live
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      return []
    }
    owner.appendLive([{ text: 'a' }])
    expect(await next()).toEqual([{ text: 'a' }])
    owner.appendLive([{ text: 'b' }])
    expect(await next()).toEqual([{ text: 'b' }])
    owner.rotateLive()
    owner.appendLive([{ text: 'c' }])
    expect(await next()).toEqual([{ text: 'c' }])
    await view.close()
    await owner.close()
  })

  it('tells a view of a session that was deleted that it is gone', async () => {
    const { store } = use()
    await (await store.create(headerFor('gone'))).close()
    const view = await store.open('gone', { mode: 'read' })
    await store.delete('gone')
    expect(await codeOf(view.refresh())).toBe('SESSION_NOT_FOUND')
    await view.close()
  })
}
