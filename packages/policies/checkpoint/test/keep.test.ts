import { createHash } from 'node:crypto'
import { chmod } from 'node:fs/promises'
import { changeFile } from '@cordage/core/tool'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openProject, type Project } from './project.ts'

const hash = (text: string) => createHash('sha256').update(text).digest('hex')

let project: Project
beforeEach(async () => {
  project = await openProject({ maxFileBytes: 1_000 })
})
afterEach(() => project[Symbol.asyncDispose]())

const write = (name: string, content: string) =>
  ['write', { file_path: project.at(name), content }] as const
const read = (name: string) => ['read', { file_path: project.at(name) }] as const
const files = async () => (await project.facts('checkpoint/file')).map(({ data }) => data)

describe('before a call changes a file', () => {
  it('its bytes and mode are kept, once for each turn', async () => {
    await project.put('a.sh', 'one')
    await chmod(project.at('a.sh'), 0o755)
    await project.turn(read('a.sh'), write('a.sh', 'two'), write('a.sh', 'three'))
    await project.turn(write('a.sh', 'four'))
    const path = project.at('a.sh')
    expect(await files()).toMatchObject([
      { turn: 1, path, by: 'call', before: { hash: hash('one'), mode: 0o755 }, after: hash('two') },
      { turn: 1, path, by: 'call', after: hash('three') },
      { turn: 2, path, before: { hash: hash('three'), mode: 0o755 }, after: hash('four') },
    ])
    expect((await files())[1]).not.toHaveProperty('before')
    const bytes = await project.made.session.getBlob(hash('one'))
    expect(Buffer.from(bytes).toString()).toBe('one')
  })

  it('that there was none is logged, and that it is removed', async () => {
    await project.turn(write('new.txt', 'x'))
    const patch = `*** Begin Patch\n*** Delete File: new.txt\n*** End Patch`
    await project.turn(read('new.txt'), ['apply_patch', { patch }])
    expect(await files()).toMatchObject([
      { before: null, after: hash('x') },
      { before: { hash: hash('x') }, after: null },
    ])
  })

  it('the fact is written before the file changes', async () => {
    const seen: unknown[] = []
    changeFile.use(
      project.made.root,
      async (_, next) => {
        seen.push([await project.text('a.txt'), (await files()).length])
        await next()
      },
      { order: 1_000 },
    )
    await project.turn(write('a.txt', 'one'))
    expect(seen).toEqual([[undefined, 1]])
  })

  it('a large file is named as not kept', async () => {
    await project.put('large.txt', 'x'.repeat(1_001))
    await project.turn(read('large.txt'), write('large.txt', 'small'))
    const [fact] = await files()
    expect(fact?.['before']).toMatchObject({
      bytes: 1_001,
      notKept: expect.stringContaining('1000'),
    })
  })

  it('a change that failed is taken back', async () => {
    await project.put('a.txt', 'one')
    changeFile.use(
      project.made.root,
      async (_, next) => {
        await project.put('a.txt', 'of somebody else')
        return next()
      },
      { order: 1_000 },
    )
    const [, refused] = await project.turn(read('a.txt'), write('a.txt', 'two'))
    expect(refused).toContain('FILE_STALE')
    expect(await files()).toMatchObject([
      { by: 'call', after: hash('two') },
      { by: 'failed', after: hash('one') },
    ])
    expect(await project.plan({ turn: 1 })).toEqual({ 'a.txt': 'conflict' })
  })

  it('nothing is changed where it cannot be kept', async () => {
    await project.put('a.txt', 'one')
    const { session } = project.made
    session.putBlob = async () => {
      throw new Error('the disk is full')
    }
    const [, failed] = await project.turn(read('a.txt'), write('a.txt', 'two'))
    expect(failed).toContain('policy-checkpoint')
    expect(await project.text('a.txt')).toBe('one')
  })
})

describe('a command', () => {
  it('is seen to change and remove what the session changed before', async () => {
    await project.turn(write('a.txt', 'one'), write('b.txt', 'b'))
    await project.put('a.txt', 'of the user')
    await project.turn(['bash', { command: 'echo two > a.txt; rm b.txt; echo c > c.txt' }])
    expect((await files()).slice(2)).toMatchObject([
      { turn: 2, by: 'command', before: { hash: hash('of the user') }, after: hash('two\n') },
      { turn: 2, by: 'command', before: { hash: hash('b') }, after: null },
    ])
    await project.restore({ turn: 2 })
    expect(await project.text('a.txt')).toBe('of the user')
    expect(await project.text('b.txt')).toBe('b')
    expect(await project.text('c.txt')).toBe('c\n')
  })

  it('that changes nothing costs no fact', async () => {
    await project.turn(write('a.txt', 'one'))
    await project.turn(['bash', { command: 'touch a.txt; cat a.txt' }])
    expect(await files()).toHaveLength(1)
  })
})
