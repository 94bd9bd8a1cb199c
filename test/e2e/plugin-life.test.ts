import { existsSync, readdirSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { toolResult } from '@cordage/core/session'
import { describe, expect, it } from 'vitest'
import { linkWorkspace, npmIn } from '../../packages/kit/create-plugin/test/workspace.ts'
import { runCli } from './fixture/cli.ts'
import { pack } from './fixture/package.ts'
import { makePlace, type Place } from './fixture/place.ts'
import { latestSession, readLog } from './fixture/read-log.ts'
import { scripts } from './fixture/scripts.ts'

const LIFE = { timeout: 300_000 }
const NAME = '@acme/weather'

async function cordage(place: Place, args: string[]) {
  const { code, stdout, stderr } = await runCli(place, args)
  return { code, stdout, stderr, all: `${stdout}${stderr}` }
}

/** A task whose recorded model calls the plugin's tool and then says that it is done. */
async function callTool(place: Place) {
  const steps = [{ calls: [{ name: 'weather', arguments: { name: 'Ada' } }] }, { text: 'done' }]
  const overlay = await scripts(place, { greet: { steps } })
  const args = [...overlay, '--model', 'scripted/greet', 'greet']
  const ended = await cordage(place, args)
  return { ...ended, first: ended.stderr.split('\n')[0] ?? '' }
}

/** What the model saw of the last call of the latest session. */
function lastResult({ home }: Place): string {
  const facts = readLog(home, latestSession(home))
  const [result] = facts.findLast(toolResult.is)?.data.part.content ?? []
  return result?.type === 'text' ? result.text : 'no text'
}

async function list(place: Place) {
  const { stdout } = await cordage(place, ['plugin', 'list', '--output', 'json'])
  return JSON.parse(stdout) as Record<string, unknown>[]
}

async function edit(file: string, change: (text: string) => string): Promise<void> {
  await writeFile(file, change(await readFile(file, 'utf8')))
}

describe('the life of a plugin', () => {
  it('is made, tested, packed, added, run, broken, mended and removed', LIFE, async () => {
    await using place = await makePlace('empty')
    const source = join(place.project, 'weather')

    const created = await cordage(place, ['plugin', 'create', NAME, '--kind', 'tool'])
    expect(created, created.all).toMatchObject({ code: 0 })
    await linkWorkspace(source)
    expect(await npmIn(source, ['test'])).toMatch(/passed/)
    const first = await pack(source)

    const added = await cordage(place, ['plugin', 'add', first])
    expect(added, added.all).toMatchObject({ code: 0 })
    expect(added.stdout).toMatch(/says that it uses: nothing\n {2}brings the rows: acme-weather/)
    expect(added.stdout).toContain('Its code runs with all your rights.')
    // From here on the home is all there is.
    await rm(first)

    const run = await callTool(place)
    expect(run, run.all).toMatchObject({ code: 0 })
    expect(run.stdout).toBe('done\n')
    expect(lastResult(place)).toBe('Hello, Ada!')
    expect(await list(place)).toMatchObject([
      { name: NAME, version: '0.1.0', state: 'active', rows: ['acme-weather'] },
    ])
    const [{ bootMs, promptTokens, logBytes } = {}] = await list(place)
    for (const cost of [bootMs, promptTokens, logBytes]) expect(cost).toBeGreaterThan(0)

    const why = await cordage(place, ['plugin', 'why', 'acme-weather'])
    expect(why.stdout).toMatch(/brought by the plugin @acme\/weather.*cordis\.patch\.yml:\d/)
    expect(why.stdout).toContain('needs ctx.tools of core-tool')

    await breaks(place)
    await updates(place, source)
    await removes(place)
  })
})

async function breaks(place: Place): Promise<void> {
  const installed = join(place.home, 'profiles/headless/node_modules', NAME, 'dist/index.js')
  const sound = await readFile(installed, 'utf8')
  await writeFile(installed, 'throw new TypeError("spoiled")\n')
  const run = await callTool(place)
  // The model asks for a tool that is not there, and the run goes on.
  expect(run, run.all).toMatchObject({ code: 0 })
  expect(run.first).toMatch(/acme-weather.*quarantined.*spoiled/)
  expect(lastResult(place)).toContain('weather')
  for (const command of [
    ['doctor', '--offline'],
    ['config', 'check'],
    ['plugin', 'list'],
  ]) {
    const { all } = await cordage(place, command)
    expect(all, command.join(' ')).toMatch(/acme-weather.*quarantined|quarantined.*spoiled/)
  }
  await writeFile(installed, sound)
}

async function updates(place: Place, source: string): Promise<void> {
  await edit(join(source, 'package.json'), (text) =>
    text.replace('"0.1.0"', '"0.2.0"').replace('"uses": []', '"uses": ["net:wttr.in"]'),
  )
  await edit(join(source, 'src/index.ts'), (text) => text.replace('!`', ', and again!`'))
  const next = await pack(source)
  const dry = await cordage(place, ['plugin', 'add', next, '--dry-run'])
  expect(dry.stdout).toMatch(/version: 0\.1\.0 -> 0\.2\.0\n {2}uses: \+net:wttr\.in/)
  expect(await list(place)).toMatchObject([{ version: '0.1.0' }])
  await cordage(place, ['plugin', 'add', next])
  expect(await list(place)).toMatchObject([{ version: '0.2.0', uses: ['net:wttr.in'] }])
  await callTool(place)
  expect(lastResult(place)).toBe('Hello, Ada, and again!')
  const again = await cordage(place, ['plugin', 'add', next])
  expect(again.stdout).toBe('@acme/weather 0.2.0 is as it was.\n')
}

async function removes(place: Place): Promise<void> {
  const wrong = await cordage(place, ['plugin', 'remove', '@acme/wether'])
  expect(wrong).toMatchObject({ code: 2 })
  expect(wrong.stderr).toContain('Did you mean @acme/weather?')
  expect(await cordage(place, ['plugin', 'remove', NAME])).toMatchObject({ code: 0 })
  expect(existsSync(join(place.home, 'profiles'))).toBe(false)
  expect(readdirSync(place.home)).not.toContain('node_modules')
  const { stderr } = await callTool(place)
  expect(stderr).not.toContain('quarantined')
  expect(lastResult(place)).not.toContain('Hello, Ada')
  expect(await list(place)).toEqual([])
}
