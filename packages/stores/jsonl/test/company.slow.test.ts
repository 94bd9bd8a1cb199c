import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { codeOf, factAt, headerFor, readAll } from '@cordage/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isLeased, takeLease } from '../src/lease.ts'
import { nodeIo } from '../src/node-io.ts'
import { leasePath } from '../src/options.ts'
import { rewriteLog } from '../src/rewrite.ts'
import { type Fixture, makeFixture } from './fixtures.ts'
import { type Owner, startOwner } from './processes.ts'

let fixture: Fixture
let owners: Owner[]
beforeEach(async () => {
  owners = []
  fixture = await makeFixture({ segmentMaxBytes: 20_000 })
})
afterEach(async () => {
  await Promise.all(owners.map((owner) => owner.kill()))
  await fixture.dispose()
})

describe('a process that is stopped', () => {
  it('stays the owner until it is taken over, and is fenced out when it wakes', async () => {
    await (await fixture.store.create(headerFor('stopped'))).close()
    const owner = await start('stopped')
    owner.add()
    expect(await owner.next()).toBe('acknowledged 1')
    owner.process.kill('SIGSTOP')
    expect(await codeOf(fixture.store.open('stopped', { mode: 'write' }))).toBe('SESSION_BUSY')
    expect((await fixture.store.list())[0]?.busy).toBe(true)

    const log = await fixture.store.open('stopped', { mode: 'write', takeOver: true })
    await log.append([factAt(1, 'by the new owner')], { sync: true })
    expect(await codeOf(fixture.store.open('stopped', { mode: 'write' }))).toBe('SESSION_BUSY')
    owner.add()
    owner.process.kill('SIGCONT')
    expect(await owner.next()).toBe('STORE_FENCED')
    owner.add()
    expect(await owner.next()).toBe('STORE_FENCED')
    await log.append([factAt(2)], { sync: true })
    const facts = [factAt(0), factAt(1, 'by the new owner'), factAt(2)]
    expect(await readAll(log)).toEqual(facts)
    await owner.kill()
    await log.close()
    const again = await fixture.store.open('stopped', { mode: 'write' })
    expect(await readAll(again)).toEqual(facts)
    await again.close()
  })

  it('is fenced out even before the new owner has written, and after it has closed', async () => {
    await (await fixture.store.create(headerFor('early'))).close()
    const owner = await start('early')
    const log = await fixture.store.open('early', { mode: 'write', takeOver: true })
    owner.add()
    expect(await owner.next()).toBe('STORE_FENCED')
    await log.close()
    const next = await fixture.store.open('early', { mode: 'write' })
    owner.add()
    expect(await owner.next()).toBe('STORE_FENCED')
    await next.append([factAt(0, 'mine')], { sync: true })
    expect(await readAll(next)).toEqual([factAt(0, 'mine')])
    await next.close()
  })

  it('is fenced out after the log was written anew, whatever its segments are called', async () => {
    await (await fixture.store.create(headerFor('anew'))).close()
    const owner = await start('anew')
    owner.add()
    expect(await owner.next()).toBe('acknowledged 1')
    owner.process.kill('SIGSTOP')
    const taken = await fixture.store.open('anew', { mode: 'write', takeOver: true })
    await taken.append([factAt(1, 'by the new owner')], { sync: true })
    await taken.close()
    const facts = [factAt(0), factAt(1, 'by the new owner')]
    const directory = join(fixture.root, 'sessions/anew')
    const lock = await nodeIo.lock(leasePath(directory), false)
    if (!lock) throw new Error('nobody else owns it')
    const contents = {
      header: headerFor('anew'),
      facts: async function* () {
        yield* facts
      },
    }
    const options = { ...place(), segmentMaxBytes: 20_000, compression: 'zstd' } as const
    await rewriteLog(options, { directory, lock, keepAs: 'log.old' }, contents)
    await lock.release()
    owner.add()
    owner.process.kill('SIGCONT')
    expect(await owner.next()).toBe('STORE_FENCED')
    const log = await fixture.store.open('anew', { mode: 'write' })
    expect(await readAll(log)).toEqual(facts)
    await log.close()
  })

  it('whose lease is gone is still fenced out by the segment of another one', async () => {
    await (await fixture.store.create(headerFor('leaseless'))).close()
    const owner = await start('leaseless')
    await rm(join(fixture.root, 'sessions/leaseless/lease.db'))
    owner.add()
    expect(await owner.next()).toBe('acknowledged 1')
    const log = await fixture.store.open('leaseless', { mode: 'write' })
    expect(await readAll(log)).toEqual([factAt(0)])
    owner.add()
    expect(await owner.next()).toBe('STORE_FENCED')
    await log.append([factAt(1, 'mine')], { sync: true })
    await rm(join(fixture.root, 'sessions/leaseless/lease.db'))
    expect(await readAll(log)).toEqual([factAt(0), factAt(1, 'mine')])
    await log.close()
  })

  it('leaves one owner when several take over at once', async () => {
    const log = await fixture.store.create(headerFor('rush'))
    await log.append([factAt(0)], { sync: true })
    const rush = await Promise.allSettled(
      Array.from({ length: 4 }, () => {
        return fixture.another().open('rush', { mode: 'write', takeOver: true })
      }),
    )
    const taken = rush.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(taken.length).toBeGreaterThan(0)
    const codes = await Promise.all(
      [log, ...taken].map((one, index) => codeOf(one.append([factAt(1, index)], { sync: true }))),
    )
    expect(codes.filter((code) => code === undefined)).toHaveLength(1)
    const view = await fixture.store.open('rush', { mode: 'read' })
    expect(await readAll(view)).toEqual([factAt(0), factAt(1, codes.indexOf(undefined))])
    for (const one of [log, ...taken]) await one.close()
  })
})

describe('the lease', () => {
  it('is free at once after its owner was killed', async () => {
    await (await fixture.store.create(headerFor('lease'))).close()
    const owner = await start('lease')
    expect(await codeOf(fixture.store.open('lease', { mode: 'write' }))).toBe('SESSION_BUSY')
    await owner.kill()
    const log = await fixture.store.open('lease', { mode: 'write' })
    expect(log.notices).toEqual([])
    await log.close()
  })

  it('is not lost to the garbage collector', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const path = join(fixture.root, 'lease.db')
    expect(await takeLease(path, false).then((lock) => lock?.takenOver)).toBe(false)
    for (let round = 0; round < 5; round++) {
      await new Promise(setImmediate)
      collect()
    }
    expect(await isLeased(path)).toBe(true)
  })

  it('whose file is rubbish is taken over only when asked', async () => {
    await (await fixture.store.create(headerFor('rubbish'))).close()
    await writeFile(join(fixture.root, 'sessions/rubbish/lease.db'), 'rubbish'.repeat(1000))
    expect(await codeOf(fixture.store.open('rubbish', { mode: 'write' }))).toBe('SESSION_BUSY')
    const log = await fixture.store.open('rubbish', { mode: 'write', takeOver: true })
    await log.append([factAt(0)], { sync: true })
    await log.close()
    await (await fixture.store.open('rubbish', { mode: 'write' })).close()
  })
})

const place = () => ({ io: nodeIo, directory: join(fixture.root, 'sessions') })

async function start(id: string, mode?: string): Promise<Owner> {
  const owner = await startOwner(join(fixture.root, 'sessions'), id, mode)
  owners.push(owner)
  return owner
}
