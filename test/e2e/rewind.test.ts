import { readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startCli } from './fixture/cli.ts'
import { makePlace, type Place } from './fixture/place.ts'
import { latestSession } from './fixture/read-log.ts'
import { scripts } from './fixture/scripts.ts'
import { runCli } from './fixture/warm-cli.ts'

let place: Place
let patch: string[]

beforeEach(async () => {
  place = await makePlace('empty')
})
afterEach(() => place[Symbol.asyncDispose]())

const at = (name: string) => join(place.project, name)
const text = (name: string) => readFile(at(name), 'utf8').catch(() => undefined)
const write = (name: string, content: string) => {
  return { name: 'write', arguments: { file_path: at(name), content } }
}
/** Another process has not read what this one wrote. */
const rewrite = (name: string, content: string) => [
  { name: 'read', arguments: { file_path: at(name) } },
  write(name, content),
]

/** One call for all of them. */
const patchOf = (changes: string[]) => {
  const patch = `*** Begin Patch\n${changes.join('')}*** End Patch\n`
  return { name: 'apply_patch', arguments: { patch } }
}

/** A session of one turn for each list of calls; gives its id. */
async function session(...turns: { name: string; arguments: Record<string, unknown> }[][]) {
  const steps = turns.flatMap((calls, index) => [{ calls }, { text: `Turn ${index + 1} is done.` }])
  patch = await scripts(place, { all: { steps } })
  for (const index of turns.keys()) {
    const verb = index === 0 ? 'run' : 'continue'
    const ended = await cli(verb, '--model', 'scripted/all', `Do part ${index + 1}`)
    expect(ended.stdout).toContain(`Turn ${index + 1} is done.`)
  }
  return latestSession(place.home)
}

const cli = (...args: string[]) => runCli(place, [...patch, ...args])

async function rewind(id: string, ...args: string[]) {
  const { code, stdout, stderr } = await cli('sessions', 'rewind', id, ...args, '--output', 'json')
  const done = stdout === '' ? {} : JSON.parse(stdout)
  return { code, stderr, ...(done as { session?: string; files?: { state: string }[] }) }
}

describe('cordage sessions rewind', () => {
  it('puts files back and goes on in a session of its own, which outlives its parent', async () => {
    const id = await session(
      [write('a.txt', 'one')],
      [...rewrite('a.txt', 'two'), write('b.txt', 'b')],
    )
    const shown = (await cli('sessions', 'show', id)).stdout
    const planned = await cli('sessions', 'rewind', id, '--to', '2', '--dry-run')
    expect(planned.stdout).toContain('would be put back')
    expect(await text('a.txt')).toBe('two')

    const done = await rewind(id, '--to', '2')
    expect(done).toMatchObject({ code: 0, files: [{ state: 'ready' }, { state: 'ready' }] })
    expect([await text('a.txt'), await text('b.txt')]).toEqual(['one', undefined])
    const child = await cli('sessions', 'show', done.session ?? '')
    expect(child.stdout).toContain('Turn 1 is done.')
    expect(child.stdout).not.toContain('Part 2')
    // The old one has all that it had.
    expect((await cli('sessions', 'show', id)).stdout.startsWith(shown.trimEnd())).toBe(true)

    await cli('sessions', 'delete', id)
    await cli('resume', done.session ?? '', 'Do part 2')
    expect(await text('a.txt')).toBe('two')
    expect(await rewind(done.session ?? '', '--to', '1', '--files')).toMatchObject({ code: 0 })
    expect(await text('a.txt')).toBeUndefined()
  })

  it('refuses what somebody else changed, unless it is forced, and can be undone', async () => {
    const id = await session([write('a.txt', 'one'), write('b.txt', 'b')])
    await writeFile(at('a.txt'), 'of the user')
    const refused = await rewind(id, '--to', '1')
    expect(refused).toMatchObject({ code: 1 })
    expect(refused.stderr).toContain(at('a.txt'))
    expect([await text('a.txt'), await text('b.txt')]).toEqual(['of the user', 'b'])
    const { stdout } = await cli('sessions', 'list', '--output', 'json')
    expect(JSON.parse(stdout)).toHaveLength(1)

    expect(await rewind(id, '--to', '1', '--files', '--force')).toMatchObject({ code: 0 })
    expect([await text('a.txt'), await text('b.txt')]).toEqual([undefined, undefined])
    expect(await rewind(id, '--undo')).toMatchObject({ code: 0 })
    expect([await text('a.txt'), await text('b.txt')]).toEqual(['of the user', 'b'])
  })

  it('takes the conversation alone, and its model is told which files have changed', async () => {
    const id = await session([write('a.txt', 'one')], rewrite('a.txt', 'two'))
    const { session: child = '' } = await rewind(id, '--to', '2', '--conversation')
    expect(await text('a.txt')).toBe('two')
    await cli('resume', child, 'Go on')
    const request = await cli('sessions', 'show', child, '--request', '1', '--output', 'json')
    expect(request.stdout).toContain('taken back to before turn 2')
    expect(request.stdout).toContain(at('a.txt'))
  })

  it('says what is missing from its command line', async () => {
    const id = await session([write('a.txt', 'one')])
    expect(await rewind(id)).toMatchObject({ code: 2 })
    expect(await rewind(id, '--to', '7')).toMatchObject({ code: 2 })
    expect(await rewind(id, '--to', '1', '--files', '--both')).toMatchObject({ code: 2 })
    const bare = await cli('--profile', 'sdk-minimal', 'sessions', 'rewind', id, '--to', '1')
    expect(bare).toMatchObject({ code: 2, stderr: expect.stringContaining('policy-checkpoint') })
  })
})

describe('kill -9 in the middle of a rewind', () => {
  const names = Array.from({ length: 120 }, (_, index) => `f${String(index).padStart(3, '0')}`)

  it('leaves whole files, and running it again completes it', async () => {
    // Another process has not read what this one wrote.
    const reads = names.map((name) => ({ name: 'read', arguments: { file_path: at(name) } }))
    const id = await session(
      [patchOf(names.map((name) => `*** Add File: ${name}\n+one ${name}\n`))],
      [
        ...reads,
        patchOf(names.map((name) => `*** Update File: ${name}\n@@\n-one ${name}\n+two ${name}\n`)),
      ],
    )
    const texts = () => Promise.all(names.map(async (name) => (await text(name))?.split(' ')[0]))
    let halfway = 0
    for (let attempt = 0; attempt < 5 && halfway === 0; attempt += 1) {
      const args = ['sessions', 'rewind', id, '--to', '2', '--files']
      const { child, ended } = startCli(place, [...patch, ...args])
      while (readFileSync(at('f030'), 'utf8').startsWith('two') && child.exitCode === null) {
        await sleep(0)
      }
      child.kill('SIGKILL')
      await ended
      const now = await texts()
      expect(now.every((word) => word === 'one' || word === 'two')).toBe(true)
      if (now.includes('two')) halfway = now.filter((word) => word === 'one').length
      else expect(await rewind(id, '--undo')).toMatchObject({ code: 0 })
    }
    console.log(`killed after ${halfway} of ${names.length} files`)
    expect(halfway).toBeGreaterThan(0)
    expect(await rewind(id, '--to', '2', '--files')).toMatchObject({ code: 0 })
    expect(new Set(await texts())).toEqual(new Set(['one']))
    expect(await rewind(id, '--undo')).toMatchObject({ code: 0 })
    expect(new Set(await texts())).toEqual(new Set(['two']))
  })
})
