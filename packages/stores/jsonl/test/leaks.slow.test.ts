import type { Io, IoFile } from '@cordage/core/store'
import { factAt, factsFrom, headerFor, readAll } from '@cordage/testkit'
import { expect, it } from 'vitest'
import { nodeIo } from '../src/node-io.ts'
import { type Fixture, makeFixture } from './fixtures.ts'

/** The real disk, but that call number `failing` fails and what is held is counted. */
interface Counted {
  readonly io: Io
  readonly held: Set<string>
  calls: number
  failing: number
}

function countedIo(): Counted {
  const counted = { held: new Set<string>(), calls: 0, failing: Infinity }
  const call = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    if (counted.calls++ === counted.failing) throw Object.assign(new Error(name), { code: 'EIO' })
    return work()
  }
  let holds = 0
  const hold = <T extends object>(what: string, thing: T, end: () => Promise<void>) => {
    const name = `${++holds}: ${what}`
    counted.held.add(name)
    return { ...thing, end: () => end().then(() => void counted.held.delete(name)) }
  }
  const file = (path: string, real: IoFile): IoFile => {
    const { end, ...rest } = hold(path, real, () => real.close())
    return {
      ...rest,
      read: (into, position) => call('read', () => real.read(into, position)),
      write: (bytes, position) => call('write', () => real.write(bytes, position)),
      // Nothing here is about what survives a power cut, and a flush is slow.
      sync: () => call('sync', async () => {}),
      truncate: (length) => call('truncate', () => real.truncate(length)),
      size: () => call('size', () => real.size()),
      close: end,
    }
  }
  const io: Io = {
    open: (path, mode) => call('open', async () => file(path, await nodeIo.open(path, mode))),
    stat: (path) => call('stat', () => nodeIo.stat(path)),
    list: (path) => call('list', () => nodeIo.list(path)),
    makeDirectory: (path) => call('mkdir', () => nodeIo.makeDirectory(path)),
    syncDirectory: () => call('sync', async () => {}),
    rename: (from, to) => call('rename', () => nodeIo.rename(from, to)),
    link: (from, to) => call('link', () => nodeIo.link(from, to)),
    remove: (path) => call('remove', () => nodeIo.remove(path)),
    locked: (path) => call('locked', () => nodeIo.locked(path)),
    lock: (path, force) =>
      call('lock', async () => {
        const lock = await nodeIo.lock(path, force)
        if (!lock) return undefined
        const { end, ...rest } = hold(path, lock, () => lock.release())
        return { ...rest, release: end }
      }),
  }
  return Object.assign(counted, { io })
}

/** What an owner, the one that takes over from it, and a reader do; stops at the first failure. */
async function live({ store, another }: Fixture): Promise<void> {
  const log = await store.create(headerFor('one'))
  log.appendLive([{ text: 'live' }])
  await log.putBlob(Buffer.from('blob'))
  // The second of these begins another segment.
  for (let seq = 0; seq < 3; seq++) await log.append([factAt(seq)], { sync: true })
  const next = await another().open('one', { mode: 'write', takeOver: true })
  await next.append(factsFrom(3, 1), { sync: true })
  const view = await store.open('one', { mode: 'read' })
  await readAll(view)
  await view.refresh()
  const fork = await another().fork('one', headerFor('two'), { before: 3 })
  await fork.close()
  for await (const _ of (await store.salvage('two')).facts) continue
  await store.list()
  await next.close()
  await log.close()
  await store.delete('one')
}

it('a call of the system that fails, whichever it is, leaves no file open and no lease', async () => {
  const leaks: Record<string, string[]> = {}
  for (let failing = 0, calls = Infinity; failing <= calls; failing++) {
    const counted = countedIo()
    const fixture = await makeFixture({ io: counted.io, segmentMaxBytes: 700 })
    counted.calls = 0
    counted.failing = failing
    const outcome = await live(fixture).catch((error: unknown) => String(error))
    calls = counted.calls
    // What is held on purpose is let go of; what is left then is a leak.
    counted.failing = Infinity
    await fixture.dispose()
    if (counted.held.size > 0) leaks[`call ${failing}, ${outcome}`] = [...counted.held]
    if (calls <= failing) expect(outcome).toBeUndefined()
  }
  expect(leaks).toEqual({})
})
