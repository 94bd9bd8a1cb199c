import { execFile } from 'node:child_process'
import { existsSync, globSync, readFileSync, readdirSync } from 'node:fs'
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { requestHeader } from '@cordage/core/session'
import { describe, expect, it } from 'vitest'
import { type Ended } from './fixture/cli.ts'
import { makePlace, repository, type Place } from './fixture/place.ts'
import { readLog, sessionIds } from './fixture/read-log.ts'
import { scripts } from './fixture/scripts.ts'
import { runCli } from './fixture/warm-cli.ts'

const examples = join(repository, 'docs/examples')
const run = promisify(execFile)

type Call = readonly [name: string, args: Record<string, unknown>]

/** Layers that load an example, and a model that makes these calls one by one and is done. */
async function withCalls(place: Place, example: string, ...calls: Call[]): Promise<string[]> {
  const steps = calls.map(([name, args]) => ({ calls: [{ name, arguments: args }] }))
  const patches = await scripts(place, { calls: { steps: [...steps, { text: 'Done.' }] } })
  return [...load(example), ...patches]
}

const play = ['run', '--model', 'scripted/calls']

const load = (example: string) => ['--patch', join(examples, example, 'cordis.patch.yml')]

function completed({ code, stdout, stderr }: Ended, answer = 'Done.\n'): void {
  expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: answer })
}

/** What the model was given in the first request of the latest session. */
async function firstRequest(place: Place, patches: string[]): Promise<string> {
  const [id = ''] = sessionIds(place.home)
  const show = ['sessions', 'show', id, '--request', '1', '--output', 'json']
  return (await runCli(place, [...patches, ...show])).stdout
}

/** The services that folders of core declare, and those that they import. */
function servicesOf(folders: Iterable<RegExpExecArray>, known = new Set<string>()): Set<string> {
  for (const [, folder = ''] of folders) {
    if (known.has(`${folder}/`)) continue
    known.add(`${folder}/`)
    for (const file of globSync(join(repository, 'packages/core/src', folder, '*.ts'))) {
      const source = readFileSync(file, 'utf8')
      const declared = /interface Services \{([^}]+)\}/.exec(source)?.[1]
      for (const [key] of declared?.matchAll(/\w+(?=: )/g) ?? []) known.add(key)
      servicesOf(source.matchAll(/from '\.\.\/(\w+)\/index\.ts'/g), known)
    }
  }
  return known
}

describe('the examples', () => {
  it('each have one source file of 10 to 60 lines', () => {
    const folders = readdirSync(examples, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name !== 'fix-a-bug')
      .map(({ name }) => name)
    const sizes = folders.map((folder) => {
      const sources = globSync('**/*.ts', { cwd: join(examples, folder) })
      // A bundle's source is its layer.
      const files = sources.length > 0 ? sources : ['cordis.patch.yml']
      const lines = files.map((file) => readFileSync(join(examples, folder, file), 'utf8'))
      return { folder, lines: lines.map((text) => text.trimEnd().split('\n').length) }
    })
    const wrong = sizes.filter(({ lines: [count = 0, ...more] }) => {
      return more.length > 0 || count < 10 || count > 60
    })
    expect(wrong).toEqual([])
    expect(folders).toHaveLength(12)
  })

  it('are all listed on their page', () => {
    const page = readFileSync(join(examples, 'README.md'), 'utf8')
    const folders = globSync('*/{cordis.patch.yml,package.json}', { cwd: examples }).map(dirname)
    expect(folders.filter((folder) => !page.includes(`](${folder}`))).toEqual([])
  })

  it('have types that fit', async () => {
    await using place = await makePlace('empty')
    const file = join(place.project, 'tsconfig.json')
    const include = globSync('*/**/*.ts', { cwd: examples }).map((path) => join(examples, path))
    await writeFile(file, JSON.stringify({ extends: join(repository, 'tsconfig.json'), include }))
    const tsc = join(repository, 'node_modules/.bin/tsc')
    const typeRoots = join(repository, 'node_modules/@types')
    const checked = run(tsc, ['-p', file, '--typeRoots', typeRoots, '--pretty', 'false'])
    // What is wrong elsewhere is not a mistake of the examples.
    const { stdout } = await checked.catch((error: { stdout: string }) => error)
    expect(stdout.split('\n').filter((line) => line.includes('docs/examples/'))).toEqual([])
  })

  it('each import what tells TypeScript about the services they inject', () => {
    const missing = globSync('*/**/*.ts', { cwd: examples }).flatMap((file) => {
      const source = readFileSync(join(examples, file), 'utf8')
      const injected = /inject: \[([^\]]+)\]/.exec(source)?.[1]?.match(/\w+/g) ?? []
      const known = servicesOf(source.matchAll(/from '@cordage\/core\/(\w+)'/g))
      return injected.filter((key) => !known.has(key)).map((key) => `${file}: ${key}`)
    })
    expect(missing).toEqual([])
  })
})

describe('the example', () => {
  it('hello-tool is called and answers', async () => {
    await using place = await makePlace('empty')
    const args = await withCalls(place, 'hello-tool', ['hello', { name: 'Ada' }])
    const ended = await runCli(place, [...args, ...play, 'greet Ada'])
    completed(ended)
    expect(ended.stderr).toContain('✓ Hello, Ada!')
  })

  it('config rolls what it is configured to and refuses what does not fit', async () => {
    await using place = await makePlace('empty')
    const calls: Call[] = [
      ['roll', { count: 3 }],
      ['roll', { count: 4 }],
    ]
    const args = await withCalls(place, 'config', ...calls)
    const { stderr } = await runCli(place, [...args, ...play, 'roll'])
    expect(stderr).toMatch(/✓ Rolled \d+, \d+, \d+\n/)
    expect(stderr).toContain('✗ INVALID_ARGS')

    const wrong = join(place.base, 'wrong.yml')
    await writeFile(wrong, '- id: tool-dice\n  merge: { sides: one }\n')
    const refused = await runCli(place, [...args, '--patch', wrong, ...play, 'roll'])
    expect(refused.code).toBe(78)
    expect(refused.stderr).toContain('wrong.yml:2')
  })

  it('prompt-section is in the request, with the row that put it there', async () => {
    await using place = await makePlace('empty')
    const args = await withCalls(place, 'prompt-section')
    completed(await runCli(place, [...args, ...play, 'hello']))
    const request = await firstRequest(place, load('prompt-section'))
    expect(request).toContain('context-house-style')
    expect(request).toContain('- Answer in one sentence.')
    expect(request).toMatch(/Today is a \w+day\./)
  })

  it('deny-a-tool-call stops a forced push and nothing else', async () => {
    await using place = await makePlace('empty')
    const calls: Call[] = [
      ['bash', { command: 'cd . && git push origin main --force' }],
      ['bash', { command: 'echo git push origin main' }],
    ]
    const args = await withCalls(place, 'deny-a-tool-call', ...calls)
    const ended = await runCli(place, [...args, ...play, 'push'])
    completed(ended)
    expect(ended.stderr).toMatch(/✗ TOOL_DENIED .*Nobody force-pushes here/)
    expect(ended.stderr).toMatch(/✓ exit code 0\n +git push origin main/)
  })

  it('slash-command titles a session without asking a model', async () => {
    await using place = await makePlace('empty')
    const args = await withCalls(place, 'slash-command')
    completed(await runCli(place, [...args, ...play, 'hello']))
    completed(
      await runCli(place, [...args, 'continue', '/title Prices in euros']),
      'Prices in euros\n',
    )
    expect((await runCli(place, ['sessions', 'list'])).stdout).toContain('Prices in euros')
    const misspelt = await runCli(place, [...args, ...play, '/titel x'])
    expect(misspelt).toMatchObject({ code: 2, stdout: '' })
    expect(misspelt.stderr).toContain('Did you mean title?')
  })

  it('durable-state is there again in the next process', async () => {
    await using place = await makePlace('empty')
    const args = await withCalls(place, 'durable-state', ['note', { text: 'Ada likes tea' }])
    completed(await runCli(place, [...args, ...play, 'remember that']))
    expect(await firstRequest(place, load('durable-state'))).not.toContain('Your notes')
    completed(
      await runCli(place, [...args, 'continue', 'what was it?']),
      'The recorded run ends here.\n',
    )
    expect(await firstRequest(place, load('durable-state'))).toContain('- Ada likes tea')
  })

  it('model-provider says what it was told', async () => {
    await using place = await makePlace('empty')
    const args = load('model-provider')
    const ended = await runCli(place, [...args, '--model', 'parrot/grey', 'who is a good bird?'])
    completed(ended, 'who is a good bird?\n')
    expect((await runCli(place, [...args, 'models', 'list'])).stdout).toContain('parrot/grey')
  })

  it('store keeps a session that uses it and leaves nothing of it', async () => {
    await using place = await makePlace('sample')
    const args = [...load('store'), '--model', 'scripted/fix-a-bug', 'fix the failing test']
    const ended = await runCli(place, args)
    expect(ended.code, ended.stderr).toBe(0)
    expect(ended.stdout).toContain('all tests pass')
    expect(sessionIds(place.home)).toEqual([])
    const listed = await runCli(place, [...load('store'), 'sessions', 'list', '--output', 'json'])
    expect(JSON.parse(listed.stdout)).toEqual([])
  })

  it('frontend shows the names of the calls and the answer', async () => {
    await using place = await makePlace('empty')
    const args = await withCalls(place, 'frontend', ['list', {}], ['glob', { pattern: '*' }])
    const ended = await runCli(place, [...args, ...play, 'look'])
    completed(ended)
    expect(ended.stderr).toBe('list\nglob\n')
  })

  it('preset-and-child asks a child that has less', async () => {
    await using place = await makePlace('empty')
    const question = 'Is it right?'
    const opinion = { when: { lastUserContains: question }, text: 'It is.' }
    const ask = { calls: [{ name: 'second_opinion', arguments: { question } }] }
    const patches = await scripts(place, { ask: { steps: [opinion, ask, { text: 'Done.' }] } })
    const args = [...load('preset-and-child'), ...patches]
    const ended = await runCli(place, [...args, '--model', 'scripted/ask', 'check it'])
    completed(ended)
    expect(ended.stderr).toContain('✓ It is.')
    const ids = sessionIds(place.home)
    expect(ids).toHaveLength(2)
    const listed = await runCli(place, ['sessions', 'list', '--output', 'json'])
    const [{ header: parent }] = JSON.parse(listed.stdout) as [{ header: { id: string } }]
    expect(JSON.parse(listed.stdout)).toHaveLength(1)
    const [child = ''] = ids.filter((id) => id !== parent.id)
    const offered = readLog(place.home, child).find(requestHeader.is)?.data.tools ?? []
    expect(offered.map(({ name }) => name)).toEqual(expect.arrayContaining(['grep', 'read']))
    const tools = await runCli(place, [
      ...args,
      'tools',
      '--preset',
      'reviewer',
      '--output',
      'json',
    ])
    const names = (JSON.parse(tools.stdout) as { name: string; offered: boolean }[])
      .filter(({ offered }) => offered)
      .map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['glob', 'grep', 'list', 'read']))
    const withheld = ['write', 'edit', 'apply_patch', 'bash', 'second_opinion']
    expect(names.filter((name) => withheld.includes(name))).toEqual([])
    expect(offered.filter(({ name }) => withheld.includes(name))).toEqual([])
  })

  it('bundle composes with ours into a profile', async () => {
    await using place = await makePlace('empty')
    const folder = join(examples, 'bundle')
    const checked = await runCli(place, ['config', 'check', '--bundle', folder])
    expect(checked.code, checked.stderr).toBe(0)

    const profile = join(place.base, 'profile')
    await mkdir(join(profile, 'node_modules'), { recursive: true })
    await symlink(folder, join(profile, 'node_modules/cordage-bundle-careful'))
    const ours = ['base', 'coding', 'headless'].map((name) => `@cordage/bundle-${name}`)
    const cordage = { bundles: [...ours, 'cordage-bundle-careful'], preset: 'standard' }
    await writeFile(join(profile, 'package.json'), JSON.stringify({ name: 'mine', cordage }))
    await writeFile(join(profile, 'cordis.patch.yml'), '[]')
    const tools = await runCli(place, ['--profile', profile, 'tools', 'bash'])
    expect(tools.stdout).toContain('disabled by the bundle')
  })

  it('publish builds to JavaScript, packs, and runs from node_modules', async () => {
    await using place = await makePlace('empty')
    const source = join(place.base, 'publish')
    await cp(join(examples, 'publish'), source, { recursive: true })
    await mkdir(join(source, 'node_modules/@cordage'), { recursive: true })
    await symlink(join(repository, 'packages/core'), join(source, 'node_modules/@cordage/core'))
    for (const name of ['zod', '@types']) {
      await symlink(join(repository, 'node_modules', name), join(source, 'node_modules', name))
    }
    // Types are checked with those of the other examples: here core is there as its sources.
    await run(join(repository, 'node_modules/.bin/tsc'), ['--noCheck'], { cwd: source })
    const { stdout } = await run('npm', ['pack', '--ignore-scripts'], { cwd: source })
    const installed = join(place.home, 'node_modules/cordage-tool-hello')
    await mkdir(installed, { recursive: true })
    const tarball = join(source, basename(stdout.trim().split('\n').at(-1) ?? ''))
    await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1'])
    await symlink(join(repository, 'node_modules/zod'), join(place.home, 'node_modules/zod'))
    expect(existsSync(join(installed, 'src'))).toBe(false)

    const calls = await withCalls(place, 'publish', ['hello', { name: 'Ada' }])
    calls[1] = join(installed, 'cordis.patch.yml')
    const ended = await runCli(place, [...calls, ...play, 'greet Ada'])
    completed(ended)
    expect(ended.stderr).toContain('✓ Hello, Ada!')
  })
})
