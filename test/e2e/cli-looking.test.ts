import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makePlace, type Place } from './fixture/place.ts'
import { latestSession } from './fixture/read-log.ts'
import { runCli } from './fixture/warm-cli.ts'

let place: Place
let id: string

async function json(...args: string[]): Promise<unknown> {
  const { code, stdout, stderr } = await runCli(place, [...args, '--output', 'json'])
  expect(code, stderr).toBe(0)
  return JSON.parse(stdout)
}

beforeAll(async () => {
  place = await makePlace()
  const { code, stderr } = await runCli(place, ['--model', 'scripted/fix-a-bug', 'Fix the test'])
  expect(code, stderr).toBe(0)
  id = latestSession(place.home)
})

afterAll(() => place[Symbol.asyncDispose]())

describe('sessions', () => {
  it('list names the project, newest first, and only those asked for', async () => {
    expect(await json('sessions', 'list')).toMatchObject([{ header: { project: place.project } }])
    expect(await json('sessions', 'list', '--project', '/elsewhere')).toEqual([])
  })

  it('list says what each is about, where, and how long ago', async () => {
    const { stdout } = await runCli(place, ['sessions', 'list'])
    const [line = '', ...more] = stdout.split('\n')
    expect(line.split(/ {2,}/)).toEqual([
      id,
      expect.stringMatching(/^\d+[smh]$/),
      'Fix the test',
      place.project,
    ])
    expect(more).toEqual([''])
  })

  it.each(['.', 'src', './test/..', '../project/src'])(
    'list --project %s is of the project, as continue is',
    async (directory) => {
      await mkdir(join(place.project, '.git'), { recursive: true })
      expect(await json('sessions', 'list', '--project', directory)).toHaveLength(1)
      expect(await json('sessions', 'search', 'Fix', '--project', directory)).not.toEqual([])
    },
  )

  it('list --project of another one names it when it has none', async () => {
    const { code, stdout, stderr } = await runCli(place, ['sessions', 'list', '--project', '..'])
    expect(stderr).toContain(`There is no session of ${place.base} yet`)
    expect([code, stdout]).toEqual([0, ''])
  })

  it('show tells the session as it went, by the beginning of its id', async () => {
    const { stdout } = await runCli(place, ['sessions', 'show', id.slice(0, 12).toLowerCase()])
    expect(stdout).toContain('> Fix the test')
    expect(stdout).toContain('→ bash {"command":"node --test"}')
    expect(stdout).toContain('turn 1: completed')
  })

  it('show --request gives each part of that request with its origin and tokens', async () => {
    const shown = (await json('sessions', 'show', id, '--request', '3')) as {
      step: string
      tokens: number
      parts: { what: string; origin: string; stability?: string; tokens: number }[]
      messages: { message: { role: string } }[]
    }
    expect(shown.step).toBe('1.3')
    const part = (what: string) => shown.parts.filter((found) => found.what === what)
    expect(part('tool bash')).toMatchObject([{ origin: 'tool-bash', stability: 'stable' }])
    expect(part('  identity')).toMatchObject([{ origin: 'context-guidance', stability: 'stable' }])
    expect(part('assistant')).toHaveLength(2)
    expect(part('user').map(({ origin }) => origin)).toContain('you')
    expect(part('user').map(({ origin }) => origin)).toContain('context-surroundings (snapshot)')
    const counted = shown.parts.filter(({ what }) => !what.startsWith('  '))
    expect(counted.every(({ tokens }) => tokens > 0)).toBe(true)
    expect(shown.tokens).toBe(counted.reduce((sum, { tokens }) => sum + tokens, 0))
    // The answer to a step is no part of its own request.
    const later = (await json('sessions', 'show', id, '--request', '1.4')) as typeof shown
    expect(later.messages.length).toBeGreaterThan(shown.messages.length)
  })

  it('show --request of a step that is not there names those that are', async () => {
    const { code, stderr } = await runCli(place, ['sessions', 'show', id, '--request', '99'])
    expect(stderr).toMatch(/no request of step 99.*1\.1, 1\.2/)
    expect(code).toBe(2)
  })

  it('search finds what was said and done, and ends with 1 when nothing is', async () => {
    expect(await json('sessions', 'search', 'FIX THE TEST')).toMatchObject([
      { id, type: 'user/message' },
    ])
    const { code, stdout } = await runCli(place, ['sessions', 'search', 'zebra crossing'])
    expect(stdout).toBe('')
    expect(code).toBe(1)
  })

  it('show of an unknown id says where it looked', async () => {
    const { code, stderr } = await runCli(place, ['sessions', 'show', 'nothing'])
    expect(stderr).toMatch(/no session nothing.*sessions list/)
    expect(code).not.toBe(0)
  })

  it('delete removes one for good', async () => {
    const other = await makePlace('empty')
    const args = ['--model', 'scripted/fix-a-bug', '--quiet', '--max-steps', '1', 'Look']
    await runCli(other, args)
    const { stdout } = await runCli(other, ['sessions', 'list', '--output', 'json'])
    const [session] = JSON.parse(stdout) as { header: { id: string } }[]
    expect((await runCli(other, ['sessions', 'delete', session?.header.id ?? ''])).code).toBe(0)
    const after = await runCli(other, ['sessions', 'list', '--output', 'json'])
    expect(JSON.parse(after.stdout)).toEqual([])
    await other[Symbol.asyncDispose]()
  })
})

describe('config', () => {
  it('explain names the layer, file and line of each value, secrets unresolved', async () => {
    const home = join(place.home, 'cordis.patch.yml')
    const overlay = join(place.base, 'overlay.patch.yml')
    await writeFile(home, '- id: policy-retry\n  merge: { maxRetries: 2 }\n')
    await writeFile(overlay, '- id: policy-retry\n  merge: { maxDelayMs: !env "SLOW ?? 9" }\n')
    const args = ['--patch', overlay, 'config', 'explain', 'policy-retry']
    const [row] = (await json(...args)) as { values: Record<string, unknown>[] }[]
    const byPath = Object.fromEntries((row?.values ?? []).map((value) => [value['path'], value]))
    expect(byPath['config.maxRetries']).toMatchObject({ kind: 'home', file: home, line: 2 })
    expect(byPath['config.maxDelayMs']).toMatchObject({
      value: '!env SLOW ?? 9',
      kind: 'overlay',
      file: overlay,
      line: 2,
    })
    const safe = (await json('--safe', ...args)) as (typeof row)[]
    expect(JSON.stringify(safe)).not.toContain('maxRetries')
    await writeFile(home, '')
  })

  it('lets a home layer name what only another profile knows', async () => {
    const home = join(place.home, 'cordis.patch.yml')
    await writeFile(home, '- { id: store-memory, disabled: true }\n')
    const { code, stdout } = await runCli(place, ['config', 'check'])
    expect(stdout).toMatch(/cordis\.patch\.yml:1: Skipped: .*store-memory/)
    expect(code).toBe(0)
    await writeFile(home, '')
  })
})

describe('tools', () => {
  it.each([
    [['--profile', 'sdk-minimal', 'tools'], 'The preset minimal offers no tool.'],
    [['tools', '--preset', 'bare'], 'The preset bare offers no tool.'],
  ])('say so where there is none: %s', async (args, line) => {
    const bare = join(place.base, 'bare.patch.yml')
    await writeFile(bare, '- { preset: bare, rows: [] }\n')
    const { code, stderr } = await runCli(place, ['--patch', bare, ...args])
    expect(stderr).toBe(`${line}\n`)
    expect(code).toBe(0)
  })

  it('say which step has them and why one is not there', async () => {
    const overlay = join(place.base, 'tools.patch.yml')
    await writeFile(
      overlay,
      '- { id: tool-bash, disabled: true }\n' +
        '- preset: reviewer\n  extends: standard\n  rows: [{ id: tool-write, remove: true }]\n',
    )
    const args = ['--patch', overlay, 'tools']
    const standard = (await json(...args)) as { name: string; offered: boolean; reason?: string }[]
    const find = (name: string) => standard.find((tool) => tool.name === name)
    expect(find('read')).toMatchObject({ offered: true, row: 'tool-read' })
    expect(find('bash')?.reason).toBe(`disabled by the overlay at ${overlay}:1`)
    const reviewer = (await json(...args, '--preset', 'reviewer')) as typeof standard
    expect(reviewer.find(({ name }) => name === 'write')).toMatchObject({
      offered: false,
      reason: 'only in the preset standard',
    })
  })

  it('of one name show what the model is told', async () => {
    expect(await json('tools', 'bash')).toMatchObject([
      { name: 'bash', row: 'tool-bash', offered: true, parameters: { type: 'object' } },
    ])
  })
})

describe('models and doctor', () => {
  it('name what is missing, and the default where there is one', async () => {
    const without = (await json('models', 'list')) as { name: string; ready: boolean }[]
    expect(without.filter(({ ready }) => ready).map(({ name }) => name)).toEqual([
      'scripted/fix-a-bug',
    ])
    const env = { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' }
    const { stdout } = await runCli(place, ['models', 'list', '--output', 'json'], { env })
    const chosen = (JSON.parse(stdout) as { name: string; default: boolean }[]).filter(
      (model) => model.default,
    )
    expect(chosen.map(({ name }) => name)).toEqual(['openai/gpt-5.5'])
  })

  it('test fails with the exit code of trouble when nobody answers', async () => {
    const env = { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' }
    const { code, stdout } = await runCli(place, ['models', 'test'], { env })
    expect(stdout).toMatch(/^failed +list .* connect: openai could not be reached.*\[TRANSPORT\]$/m)
    expect(stdout).toContain('0 tokens in and 0 out were used')
    expect(code).toBe(75)
  })

  it('doctor lists what works', async () => {
    const { code, stdout } = await runCli(place, ['doctor', '--output', 'json'])
    const checks = JSON.parse(stdout) as { what: string; state: string }[]
    // There is no model.
    expect(code).toBe(1)
    expect(checks).toContainEqual(expect.objectContaining({ what: 'commands', state: 'partial' }))
    expect(checks).toContainEqual(expect.objectContaining({ what: 'rows', state: 'ok' }))
  })
})
