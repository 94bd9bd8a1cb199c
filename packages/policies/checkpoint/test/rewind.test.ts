import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { textOf } from '@cordage/core/message'
import { changeFile } from '@cordage/core/tool'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openProject, type Project } from './project.ts'

let project: Project
beforeEach(async () => {
  project = await openProject({ maxFileBytes: 1_000 })
})
afterEach(() => project[Symbol.asyncDispose]())

const write = (name: string, content: string) =>
  ['write', { file_path: project.at(name), content }] as const
const read = (name: string) => ['read', { file_path: project.at(name) }] as const

describe('putting files back', () => {
  it('makes every changed file what it was before the turn, mode and absence included', async () => {
    await project.put('run.sh', '#!/bin/sh\n')
    await chmod(project.at('run.sh'), 0o755)
    await project.put('old.txt', 'old')
    await project.turn(read('run.sh'), write('run.sh', 'one'))
    await project.turn(
      write('run.sh', 'two'),
      read('old.txt'),
      ['apply_patch', { patch: '*** Begin Patch\n*** Delete File: old.txt\n*** End Patch' }],
      write('deep/er/new.txt', 'new'),
    )
    await chmod(project.at('run.sh'), 0o644)
    expect(await project.restore({ turn: 2 })).toEqual({
      'run.sh': 'ready',
      'old.txt': 'ready',
      'deep/er/new.txt': 'ready',
    })
    expect(await project.text('run.sh')).toBe('one')
    expect((await stat(project.at('run.sh'))).mode & 0o777).toBe(0o755)
    expect(await project.text('old.txt')).toBe('old')
    expect(await project.text('deep/er/new.txt')).toBeUndefined()
    await project.restore({ turn: 1 })
    expect(await project.text('run.sh')).toBe('#!/bin/sh\n')
  })

  it('gives a file that is gone its mode, whatever the umask is and who may not write it', async () => {
    for (const mode of [0o466, 0o444, 0o666, 0o7555]) {
      const name = mode.toString(8)
      await project.turn(write(name, 'one'))
      await chmod(project.at(name), mode)
      await project.turn(['bash', { command: `rm -f ${name}` }])
      const turn = project.made.session.turn.turn
      expect(await project.restore({ turn })).toEqual({ [name]: 'ready' })
      expect((await stat(project.at(name))).mode & 0o7777).toBe(mode)
    }
  })

  it('makes directories again that are gone', async () => {
    await mkdir(project.at('src'))
    await project.put('src/a.txt', 'one')
    await project.turn(read('src/a.txt'), write('src/a.txt', 'two'))
    await project.turn(['bash', { command: 'rm -r src' }])
    expect(await project.restore({ turn: 2 })).toEqual({ 'src/a.txt': 'ready' })
    expect(await project.text('src/a.txt')).toBe('two')
  })

  it('tells the model, and logs what was done', async () => {
    await project.turn(write('a.txt', 'one'))
    await project.turn(write('a.txt', 'two'), write('b.txt', 'b'))
    await project.restore({ turn: 2 })
    expect(await project.facts('checkpoint/restored')).toMatchObject([
      {
        data: {
          turn: 2,
          files: [
            { path: project.at('a.txt'), action: 'written' },
            { path: project.at('b.txt'), action: 'removed' },
          ],
        },
      },
    ])
    await project.turn()
    const said = project.made.requests.at(-1)?.messages.map(({ message }) => textOf(message))
    const told = said?.find((text) => text.includes('put these files back'))
    expect(told).toContain('before turn 2')
    expect(told).toContain(`- ${project.at('b.txt')} (removed)`)
  })

  it('does nothing where nothing is to be done', async () => {
    await project.turn(write('a.txt', 'one'))
    await project.turn()
    const before = project.made.session.nextSeq
    expect(await project.restore({ turn: 2 })).toEqual({})
    expect(project.made.session.nextSeq).toBe(before)
  })

  it('names a turn that there is not', async () => {
    await project.turn()
    await expect(project.plan({ turn: 2 })).rejects.toMatchObject({
      code: 'CHECKPOINT_TURN_UNKNOWN',
    })
  })
})

describe('a file that somebody else changed', () => {
  beforeEach(async () => {
    await project.put('a.txt', 'zero')
    await project.turn(read('a.txt'), write('a.txt', 'one'), write('b.txt', 'b'))
    await project.put('a.txt', 'of the user')
  })

  it('is refused, and no other file is touched', async () => {
    expect(await project.plan({ turn: 1 })).toEqual({ 'a.txt': 'conflict', 'b.txt': 'ready' })
    await expect(project.restore({ turn: 1 })).rejects.toMatchObject({
      code: 'CHECKPOINT_CONFLICT',
      message: expect.stringContaining(project.at('a.txt')),
    })
    expect(await project.text('a.txt')).toBe('of the user')
    expect(await project.text('b.txt')).toBe('b')
  })

  it('is put back when that is forced, and can be had again', async () => {
    await project.restore({ turn: 1 }, true)
    expect([await project.text('a.txt'), await project.text('b.txt')]).toEqual(['zero', undefined])
    await project.restore('undo')
    expect([await project.text('a.txt'), await project.text('b.txt')]).toEqual(['of the user', 'b'])
    await project.restore('undo')
    expect([await project.text('a.txt'), await project.text('b.txt')]).toEqual(['zero', undefined])
  })
})

describe('a call of which nobody knows what it did', () => {
  it('leaves no conflict, whether its change was made or not', async () => {
    await project.put('a.txt', 'zero')
    await project.turn(read('a.txt'), write('a.txt', 'one'))
    const reached = Promise.withResolvers<void>()
    changeFile.use(
      project.made.root,
      () => {
        reached.resolve()
        return new Promise<void>(() => {})
      },
      { order: 1_000 },
    )
    const turn = project.turn(write('a.txt', 'two'))
    await reached.promise
    await project.made.agent.cancel('stop')
    await expect(turn).rejects.toThrow('aborted')
    const results = await project.facts('tool/result')
    expect(results.at(-1)?.data['error']).toMatchObject({ code: 'TOOL_OUTCOME_UNKNOWN' })
    expect(await project.plan({ turn: 1 })).toEqual({ 'a.txt': 'ready' })
    await project.put('a.txt', 'two')
    expect(await project.plan({ turn: 1 })).toEqual({ 'a.txt': 'ready' })
    await project.put('a.txt', 'of the user')
    expect(await project.plan({ turn: 1 })).toEqual({ 'a.txt': 'conflict' })
  })
})

describe('undoing', () => {
  it('is refused where there was no rewind, and after a further turn', async () => {
    await project.turn(write('a.txt', 'one'))
    await expect(project.restore('undo')).rejects.toThrow('there was none')
    await project.restore({ turn: 1 })
    await project.turn()
    await expect(project.restore('undo')).rejects.toThrow('turn 2 came after it')
  })
})

describe('what is never touched', () => {
  it('is outside of the project, even where the session wrote there', async () => {
    const outside = await mkdtemp(join(tmpdir(), 'cordage-outside-'))
    const file = join(outside, 'x.txt')
    await project.turn(['write', { file_path: file, content: 'x' }])
    expect(await project.restore({ turn: 1 })).toEqual({ [file]: 'refused' })
    expect(await readFile(file, 'utf8')).toBe('x')
    await rm(outside, { recursive: true })
  })

  it('is protected, even where a person allowed the agent to write it', async () => {
    const { root } = project.made
    root.approvals.answerer(root, async () => ({ outcome: 'allowed', by: 'test' }))
    await project.turn(write('AGENTS.md', 'Be kind.'), write('a.txt', 'x'))
    const plans = await project.made.root.checkpoints.plan(project.made.session, { turn: 1 })
    expect(plans[0]).toMatchObject({
      state: 'refused',
      reason: expect.stringContaining('instruct'),
    })
    await project.restore({ turn: 1 })
    expect(await project.text('AGENTS.md')).toBe('Be kind.')
    expect(await project.text('a.txt')).toBeUndefined()
  })

  it('is behind a symbolic link that was put there since', async () => {
    const outside = await mkdtemp(join(tmpdir(), 'cordage-outside-'))
    await mkdir(project.at('src'))
    await project.put('src/a.txt', 'one')
    await project.put('b.txt', 'one')
    await project.turn(
      read('src/a.txt'),
      write('src/a.txt', 'two'),
      read('b.txt'),
      write('b.txt', 'two'),
    )
    await rename(project.at('src'), join(outside, 'src'))
    await symlink(join(outside, 'src'), project.at('src'))
    await rename(project.at('b.txt'), join(outside, 'b.txt'))
    await symlink(join(outside, 'b.txt'), project.at('b.txt'))
    expect(await project.restore({ turn: 1 }, true)).toEqual({
      'src/a.txt': 'refused',
      'b.txt': 'refused',
    })
    expect(await readFile(join(outside, 'src/a.txt'), 'utf8')).toBe('two')
    expect(await readFile(join(outside, 'b.txt'), 'utf8')).toBe('two')
    await rm(outside, { recursive: true })
  })

  it('is a directory where the file was, or what cannot be kept', async () => {
    await project.turn(write('a', 'one'), write('large.txt', 'small'))
    await rm(project.at('a'))
    await mkdir(project.at('a'))
    await writeFile(project.at('large.txt'), 'x'.repeat(1_001))
    expect(await project.restore({ turn: 1 }, true)).toEqual({
      a: 'refused',
      'large.txt': 'refused',
    })
  })

  it('is what was too large to be kept', async () => {
    await project.put('large.txt', 'x'.repeat(1_001))
    await project.turn(read('large.txt'), write('large.txt', 'small'))
    expect(await project.restore({ turn: 1 }, true)).toEqual({ 'large.txt': 'refused' })
    expect(await project.text('large.txt')).toBe('small')
  })
})

describe('a rewind that was interrupted', () => {
  it('is completed by another one, whose undo goes back to before both', async () => {
    const names = ['a', 'b', 'c', 'd']
    await project.turn(...names.map((name) => write(name, `${name}1`)))
    await project.turn(...names.map((name) => write(name, `${name}2`)))
    const { session } = project.made
    const { append } = session
    // The log dies after the intentions were written and half of the files were put back.
    session.append = async (facts, options) => {
      if (facts.some(({ type }) => type === 'checkpoint/restored')) throw new Error('killed')
      return append.call(session, facts, options)
    }
    await expect(project.restore({ turn: 2 })).rejects.toThrow('killed')
    await project.put('c', 'c2')
    await project.put('d', 'd2')
    session.append = append
    expect(await project.plan({ turn: 2 })).toEqual({
      a: 'same',
      b: 'same',
      c: 'ready',
      d: 'ready',
    })
    await project.restore({ turn: 2 })
    for (const name of names) expect(await project.text(name)).toBe(`${name}1`)
    const [restored] = await project.facts('checkpoint/restored')
    expect(restored?.data['files']).toHaveLength(4)
    await project.restore('undo')
    for (const name of names) expect(await project.text(name)).toBe(`${name}2`)
  })
})

/** Each is run in a turn of its own, after `src/a.txt` was made or changed by the session. */
const disguises: [what: string, command: string][] = [
  ['a link to a file outside', 'mv src/a.txt "$OUT/a"; ln -s "$OUT/a" src/a.txt'],
  ['a link to a file beside it', 'mv src/a.txt b.txt; ln -s ../b.txt src/a.txt'],
  ['a link to nothing', 'rm src/a.txt; ln -s "$OUT/not/there" src/a.txt'],
  ['a link to nothing inside', 'rm src/a.txt; ln -s ../not/there src/a.txt'],
  ['a directory', 'rm src/a.txt; mkdir src/a.txt'],
  ['a pipe', 'rm src/a.txt; mkfifo src/a.txt'],
  ['behind a linked directory', 'mv src "$OUT/src"; ln -s "$OUT/src" src'],
  ['behind a directory linked to nothing', 'rm -r src; ln -s "$OUT/not/there" src'],
  ['below a file', 'rm -r src; echo > src'],
]

describe('what a command alone did to a file of the session', () => {
  const shell = (command: string) => ['bash', { command }] as const
  let outside: string
  beforeEach(async () => {
    outside = await mkdtemp(join(tmpdir(), 'cordage-outside-'))
  })
  afterEach(() => rm(outside, { recursive: true }))

  it.each(['755', '600', '4711'])(
    'to its mode (%s) is undone, and so is the undoing',
    async (to) => {
      const modeOf = async () => ((await stat(project.at('a.txt'))).mode & 0o7777).toString(8)
      await project.put('a.txt', 'zero')
      await chmod(project.at('a.txt'), 0o640)
      await project.turn(read('a.txt'), write('a.txt', 'one'))
      await project.turn(shell(`chmod ${to} a.txt`))
      await project.turn(shell('touch a.txt'))
      expect(await project.plan({ turn: 3 })).toEqual({})
      expect(await project.restore({ turn: 2 })).toEqual({ 'a.txt': 'ready' })
      expect([await modeOf(), await project.text('a.txt')]).toEqual(['640', 'one'])
      await project.restore('undo')
      expect([await modeOf(), await project.text('a.txt')]).toEqual([to, 'one'])
    },
  )

  it('to the mode of one that may not be written is said, and not undone', async () => {
    await project.turn(write('a.txt', 'one'))
    await project.turn(shell('chmod 444 a.txt'))
    expect(await project.restore({ turn: 2 })).toEqual({ 'a.txt': 'refused' })
    expect((await stat(project.at('a.txt'))).mode & 0o777).toBe(0o444)
  })

  it.each(disguises)('so that it is %s is said, and nothing is touched', async (_, command) => {
    await mkdir(project.at('src'))
    await project.turn(write('src/a.txt', 'one'), write('other.txt', 'x'))
    await project.turn(shell(command.replaceAll('$OUT', outside)), write('other.txt', 'y'))
    const before = [await treeOf(project.directory), await treeOf(outside)]
    const planned = { 'src/a.txt': 'refused', 'other.txt': 'ready' }
    for (const turn of [2, 1]) expect(await project.plan({ turn })).toEqual(planned)
    expect(await project.restore({ turn: 2 }, true)).toEqual(planned)
    await project.put('other.txt', 'y')
    expect([await treeOf(project.directory), await treeOf(outside)]).toEqual(before)
  })

  it('back to a file is no way to write through the link that was there', async () => {
    await project.turn(write('a.txt', 'one'))
    await project.turn(shell(`mv a.txt ${outside}/a; ln -s ${outside}/a a.txt`))
    await project.turn(shell(`rm a.txt; echo two > a.txt`))
    expect(await project.restore({ turn: 3 }, true)).toEqual({ 'a.txt': 'refused' })
    expect(await project.restore({ turn: 2 }, true)).toEqual({ 'a.txt': 'ready' })
    expect([await project.text('a.txt'), await readFile(join(outside, 'a'), 'utf8')]).toEqual([
      'one',
      'one',
    ])
  })
})

/** Names, kinds and texts below a directory. */
async function treeOf(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const lines = entries.map(async (entry) => {
    const path = join(entry.parentPath, entry.name)
    const text = entry.isFile() ? await readFile(path, 'utf8') : entry.isSymbolicLink()
    return `${path}: ${text}`
  })
  return (await Promise.all(lines)).sort()
}
