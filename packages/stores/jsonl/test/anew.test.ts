import type { Io, Store } from '@cordage/core/store'
import {
  factAt,
  factsFrom,
  headerFor,
  type IoCall,
  readAll,
  type SimulatedDisk,
  simulatedDisk,
} from '@cordage/testkit'
import { describe, expect, it } from 'vitest'
import { createJsonlStore } from '../src/index.ts'
import { contentsOf, makeFixture } from './fixtures.ts'
import { asFormat, stepFromZero, toZero } from './formats.ts'

const id = 'long'
const facts = factsFrom(0, 12).map(({ seq }) =>
  factAt(seq, { text: `${seq} ${'word '.repeat(9)}` }),
)
const snapshot = { seq: 8, state: { before: 8 } }
const options = { segmentMaxBytes: 1_500, compression: 'none', steps: [stepFromZero] } as const
const storeOn = ({ io }: SimulatedDisk) => createJsonlStore({ ...options, directory: '/root', io })

/** A log of several segments, kept on a disk in memory, as a version of `format` has written it. */
async function diskWith(format: number): Promise<SimulatedDisk> {
  const { root, store, dispose } = await makeFixture(options)
  const log = await store.create(headerFor(id))
  for (const fact of facts) {
    await log.append([fact], { sync: false, ...(fact.seq === snapshot.seq ? { snapshot } : {}) })
  }
  await log.close()
  if (format === 0) await asFormat(`${root}/sessions/${id}`, 0, toZero)
  const contents = await contentsOf(`${root}/sessions`)
  await dispose()
  const disk = simulatedDisk({ folders: [`/root/${id}/log`] })
  for (const [path, text] of Object.entries(contents)) {
    const file = await disk.io.open(`/root/${path}`, 'create')
    await file.write(Buffer.from(text, 'base64'), 0)
    await file.sync()
    await file.close()
  }
  await disk.io.syncDirectory(`/root/${id}/log`)
  return disk
}

/** What leaves the disk as it was, so that it makes no difference before which of them one ends. */
const looking = ['stat', 'list', 'file.read', 'file.size', 'locked', 'lock.current']
const divisible = ['file.write', 'makeDirectory', 'remove']

/** Has the process that does `work` end at each of its calls, and gives what is left. */
async function stopEverywhere(
  disk: SimulatedDisk,
  work: (store: Store) => Promise<unknown>,
  check: (left: SimulatedDisk, what: string) => Promise<void>,
): Promise<void> {
  const whole = disk.crash('kill')
  await work(storeOn(whole))
  const changing = whole.calls.filter(({ operation }) => !looking.includes(operation))
  expect(changing.length).toBeGreaterThan(30)
  for (const { number, operation, path } of changing) {
    for (const crash of ['before', 'within'] as const) {
      if (crash === 'within' && !divisible.includes(operation)) continue
      const faults = (call: IoCall) => (call.number === number ? { crash } : undefined)
      const dying = disk.crash('kill', { faults })
      await work(storeOn(dying)).catch(() => 'it has ended')
      expect(dying.alive).toBe(false)
      await check(dying.crash('kill'), `${crash} ${operation} ${path}`)
    }
  }
}

async function expectWhole(disk: SimulatedDisk, what: string): Promise<void> {
  const store = storeOn(disk)
  const view = await store.open(id, { mode: 'read' })
  expect(await readAll(view), what).toEqual(facts)
  await view.close()
  expect(await store.list(), what).toMatchObject([{ header: headerFor(id) }])
  const log = await store.open(id, { mode: 'write' })
  expect(await readAll(log), what).toEqual(facts)
  await log.append([factAt(12)], { sync: true })
  await log.close()
}

async function namesOf({ io }: SimulatedDisk): Promise<string[]> {
  const names = (await io.list(`/root/${id}`)).map(({ name }) => name)
  return names.filter((name) => name.startsWith('log')).sort()
}

/** The name and size of each segment. */
async function segmentsOf({ io }: SimulatedDisk, name: string): Promise<unknown[]> {
  const folder = `/root/${id}/${name}`
  const names = (await io.list(folder)).map((entry) => entry.name).sort()
  return Promise.all(names.map(async (one) => [one, (await io.stat(`${folder}/${one}`))?.size]))
}

describe('a log that is written anew', () => {
  it('by a migration that ends at any call of the system is so by the next owner', async () => {
    const disk = await diskWith(0)
    const before = await segmentsOf(disk, 'log')
    expect(before.length).toBeGreaterThan(2)
    const open = async (store: Store) => (await store.open(id, { mode: 'write' })).close()
    await stopEverywhere(disk, open, async (left, what) => {
      await expectWhole(left, what)
      expect(await namesOf(left), what).toEqual(['log', 'log.format-0'])
      expect(await segmentsOf(left, 'log.format-0'), what).toEqual(before)
    })
  })

  it('by a packing that ends at any call of the system is whole, and can be packed', async () => {
    const pack = async (store: Store) => store.upkeep?.pack(id)
    const disk = await diskWith(1)
    const before = await segmentsOf(disk, 'log')
    await stopEverywhere(disk, pack, async (left, what) => {
      await expectWhole(left, what)
      await pack(storeOn(left))
      expect((await segmentsOf(left, 'log')).length, what).toBeLessThan(before.length)
      const view = await storeOn(left).open(id, { mode: 'read' })
      expect(await readAll(view), what).toEqual([...facts, factAt(12)])
      expect(view.snapshot, what).toEqual(snapshot)
      await view.close()
    })
  })

  it('by a packing is read whole, whichever of its files a reader is about to open', async () => {
    const disk = await diskWith(1)
    const small = { ...options, segmentMaxBytes: 300, directory: '/root' }
    let kept = 0
    for (let moment = 0, ended = false; !ended; moment++) {
      const { io } = disk.crash('kill')
      let looks = 0
      const pack = async () => {
        if (looks++ === moment) await createJsonlStore({ ...small, io }).upkeep?.pack(id)
      }
      const open: Io['open'] = async (...place) => {
        await pack()
        return io.open(...place)
      }
      const view = await createJsonlStore({ ...small, io: { ...io, open } }).open(id, {
        mode: 'read',
      })
      expect(view.notices, `${moment}`).toEqual([])
      expect(await readAll(view), `${moment}`).toEqual(facts)
      await view.close()
      kept = Math.max(kept, (await io.list(`/root/${id}/log`)).length)
      ended = looks <= moment
    }
    // Of a log that is one file afterwards every other one is gone, which is easy to notice.
    expect(kept).toBeGreaterThan(1)
  })
})
