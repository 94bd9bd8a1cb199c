import type { Io, IoFile } from '@cordage/core/store'
import { describe, expect, it } from 'vitest'
import { codeOf, simulatedClock, simulatedDisk, type SimulatedDisk } from '../src/index.ts'

const seeds = Array.from({ length: 60 }, (_, seed) => seed)

async function written(io: Io, path: string, ...texts: string[]): Promise<IoFile> {
  const file = await io.open(path, 'create')
  let at = 0
  for (const text of texts) at += await file.write(Buffer.from(text), at)
  return file
}

async function textOf({ io }: SimulatedDisk, path: string): Promise<string | undefined> {
  if (!(await io.stat(path))) return undefined
  const file = await io.open(path, 'read')
  const bytes = Buffer.alloc(await file.size())
  await file.read(bytes, 0)
  return bytes.toString()
}

/** What different power cuts leave of a file. */
async function left(disk: SimulatedDisk, path: string): Promise<Set<string | undefined>> {
  const texts = seeds.map((seed) => textOf(disk.crash('power', { seed }), path))
  return new Set(await Promise.all(texts))
}

describe('a simulated disk', () => {
  it('keeps through a power cut what was synced, name and bytes', async () => {
    const disk = simulatedDisk({ folders: ['/home'] })
    await (await written(disk.io, '/home/a', 'kept')).sync()
    await disk.io.syncDirectory('/home')
    expect(await left(disk, '/home/a')).toEqual(new Set(['kept']))
  })

  it('loses any end of what was not, and tears it between blocks', async () => {
    const disk = simulatedDisk({ folders: ['/home'], blockBytes: 2 })
    const file = await written(disk.io, '/home/a', 'ab')
    await file.sync()
    await disk.io.syncDirectory('/home')
    await file.write(Buffer.from('cdef'), 2)
    expect(await left(disk, '/home/a')).toEqual(new Set(['ab', 'abcd', 'abcdef']))
    expect(await textOf(disk.crash('kill'), '/home/a')).toBe('abcdef')
  })

  it('loses any block of it where that is asked for', async () => {
    const disk = simulatedDisk({ folders: ['/home'], blockBytes: 2, loses: 'any' })
    await written(disk.io, '/home/a', 'ab', 'cd')
    await disk.io.syncDirectory('/home')
    expect(await left(disk, '/home/a')).toEqual(new Set(['', 'ab', 'abcd', '\0\0cd']))
  })

  it('loses names that were not synced, and renames wholly or not at all', async () => {
    const disk = simulatedDisk({ folders: ['/home'] })
    await (await written(disk.io, '/home/draft', 'new')).sync()
    expect(await left(disk, '/home/draft')).toEqual(new Set([undefined, 'new']))
    await disk.io.syncDirectory('/home')
    await disk.io.rename('/home/draft', '/home/a')
    for (const seed of seeds) {
      const names = await disk.crash('power', { seed }).io.list('/home')
      expect([['draft'], ['a']]).toContainEqual(names.map(({ name }) => name))
    }
  })

  it('forgets for good what a failed sync was to write', async () => {
    const faults = ({ operation }: { operation: string }) => {
      if (operation !== 'file.sync' || failed) return undefined
      failed = true
      return { fail: 'EIO' }
    }
    let failed = false
    const disk = simulatedDisk({ folders: ['/home'], faults })
    const file = await written(disk.io, '/home/a', 'lost')
    await disk.io.syncDirectory('/home')
    expect(await codeOf(file.sync())).toBe('EIO')
    await file.write(Buffer.from('!'), 4)
    await file.sync()
    expect(await textOf(disk, '/home/a')).toBe('lost!')
    expect(await left(disk, '/home/a')).toEqual(new Set(['\0\0\0\0!']))
  })

  it('frees the locks of a process with it, and not before', async () => {
    const disk = simulatedDisk()
    const other = disk.another()
    expect(await disk.io.lock('/lease', false)).toBeDefined()
    expect(await other.io.lock('/lease', false)).toBeUndefined()
    expect(await other.io.locked('/lease')).toBe(true)
    disk.kill()
    expect(await other.io.locked('/lease')).toBe(false)
    expect(await codeOf(disk.io.list('/'))).toBe('EKILLED')
    expect(await other.io.lock('/lease', false)).toBeDefined()
  })

  it('tells the one whose lock was taken', async () => {
    const disk = simulatedDisk()
    const lock = await disk.io.lock('/lease', false)
    const taken = await disk.another().io.lock('/lease', true)
    expect([await lock?.current(), await taken?.current(), taken?.takenOver]).toEqual([
      false,
      true,
      true,
    ])
  })
})

describe('a simulated clock', () => {
  it('calls what is due, in order, and nothing that was called off', () => {
    const clock = simulatedClock(0)
    const told: [number, string][] = []
    const tell = (what: string) => () => void told.push([clock.now(), what])
    clock.after(30, tell('late'))
    clock.after(10, tell('early'))
    clock.after(20, tell('never'))()
    clock.advance(25)
    expect(told).toEqual([[10, 'early']])
    clock.advance(25)
    expect(told).toEqual([
      [10, 'early'],
      [30, 'late'],
    ])
  })
})
