import { expect, it } from 'vitest'
import { codeOf, factAt, factsFrom, headerFor, readAll, type UseStore } from './store-fixture.ts'

export function stageCases(use: UseStore): void {
  it('shows a staged session to nobody before it is published, and then all of it', async () => {
    const { store } = use()
    const log = await store.stage(headerFor('staged'))
    const hash = await log.putBlob(Buffer.from('a picture'))
    await log.append(factsFrom(0, 3), { sync: false })
    await log.append(factsFrom(3, 2), { sync: true })
    expect(await readAll(log)).toEqual(factsFrom(0, 5))
    expect(await store.list({ children: true, archived: true })).toEqual([])
    expect(await codeOf(store.open('staged', { mode: 'read' }))).toBe('SESSION_NOT_FOUND')
    expect(await codeOf(store.delete('staged'))).toBe('SESSION_NOT_FOUND')
    await log.publish()
    expect((await store.list()).map(({ header }) => header)).toEqual([headerFor('staged')])
    const owner = await store.open('staged', { mode: 'write' })
    await owner.append([factAt(5)], { sync: true })
    expect(await readAll(owner)).toEqual(factsFrom(0, 6))
    expect(Buffer.from(await owner.getBlob(hash)).toString()).toBe('a picture')
    await owner.close()
  })

  it('leaves nothing of a staged session that is closed, and publishes it once', async () => {
    const { store } = use()
    const log = await store.stage(headerFor('given-up'))
    await log.append(factsFrom(0, 1), { sync: true })
    await log.close()
    await log.close()
    expect(await store.list()).toEqual([])
    const again = await store.stage(headerFor('given-up'))
    await again.publish()
    await again.close()
    expect(await store.list()).toHaveLength(1)
    expect(await codeOf(store.stage(headerFor('../elsewhere')))).toBe('STORE_ID_INVALID')
  })

  it('publishes no staged session in the place of another one', async () => {
    const { store } = use()
    const [one, other] = [await store.stage(headerFor('x')), await store.stage(headerFor('x'))]
    await one.append(factsFrom(0, 1), { sync: true })
    await other.append([factAt(0, { text: 'of the other' })], { sync: true })
    await one.publish()
    expect(await codeOf(other.publish())).toBe('STORE_ID_TAKEN')
    await other.close()
    const view = await store.open('x', { mode: 'read' })
    expect(await readAll(view)).toEqual(factsFrom(0, 1))
    await view.close()
  })
}
