import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { cleanEnv } from './fixture/cli.ts'
import { besideCordage } from './fixture/installation.ts'
import { compileCache, makePlace, repository, type Place } from './fixture/place.ts'
import { runCli } from './fixture/warm-cli.ts'

const run = promisify(execFile)
const foldersOf = (top: string) =>
  readdirSync(join(repository, top), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)

async function script(place: Place, name: string, ...args: string[]): Promise<unknown> {
  const file = besideCordage(join(import.meta.dirname, name))
  // What the launcher does for a run of the command line.
  const env = cleanEnv(place, { NODE_COMPILE_CACHE: compileCache })
  const options = { env, timeout: 60_000 }
  const { stdout } = await run(process.execPath, [file, ...args], options)
  return JSON.parse(stdout)
}

describe.concurrent('every profile', () => {
  it.each(foldersOf('profiles'))('%s passes its dry boot with nothing refused', async (name) => {
    await using place = await makePlace('empty')
    const args = ['--profile', name, 'config', 'check', '--output', 'json']
    const { code, stdout, stderr } = await runCli(place, args)
    expect(JSON.parse(stdout), stderr).toMatchObject({ problems: [], refused: [], notes: [] })
    expect(code).toBe(0)
  })

  it.each(foldersOf('profiles'))('%s boots whole and unloads without a trace', async (name) => {
    await using place = await makePlace('empty')
    const result = (await script(place, 'boot-and-close.ts', name, place.home)) as {
      rows: { id: string; state: string; reason?: string }[]
      hung: string[]
      during: { services: string[] }
      after: unknown
      empty: unknown
      log: { level: string; text: string }[]
    }
    const unexplained = result.rows.filter(({ state, reason }) => state !== 'active' && !reason)
    expect(unexplained).toEqual([])
    expect(result.rows.filter(({ state }) => state === 'active').length).toBeGreaterThan(10)
    expect(result.during.services).not.toEqual([])
    expect(result.hung).toEqual([])
    expect(result.after).toEqual(result.empty)
    expect(result.log.filter(({ level }) => level === 'error' || level === 'warn')).toEqual([])
  })

  it('dumps what composes to the same rows again', async () => {
    await using place = await makePlace('empty')
    const whole = await runCli(place, ['config', 'dump'])
    const overlay = join(place.base, 'whole.patch.yml')
    // As an overlay over itself every row is there twice: each is named, and nothing else.
    await writeFile(overlay, whole.stdout)
    const twice = await runCli(place, ['--patch', overlay, 'config', 'check', '--output', 'json'])
    const { problems } = JSON.parse(twice.stdout) as { problems: { code: string; row: string }[] }
    expect(new Set(problems.map(({ code }) => code))).toEqual(new Set(['ROW_DUPLICATE']))
    expect(problems.map(({ row }) => row)).toContain('frontend-headless')
    expect(twice.code).toBe(78)
  })
})

describe.concurrent('every bundle', () => {
  it.each(foldersOf('bundles'))('%s passes a dry boot by its short name', async (name) => {
    await using place = await makePlace('empty')
    const args = ['config', 'check', '--bundle', name, '--output', 'json']
    const { code, stdout, stderr } = await runCli(place, args)
    expect(JSON.parse(stdout), stderr).toMatchObject({ problems: [], refused: [] })
    expect(code).toBe(0)
  })

  it('that misses a service is told so by its own file and line', async () => {
    await using place = await makePlace('empty')
    const patch = join(place.base, 'without.patch.yml')
    await writeFile(patch, '- { id: core-agent, remove: true }\n')
    const { code, stdout } = await runCli(place, ['--patch', patch, 'config', 'check'])
    expect(stdout).toMatch(
      /bundle[s-]\/?headless\/cordis\.patch\.yml:3: .*"frontend-headless".*ctx\.agents.*\[SERVICE_MISSING\]/,
    )
    expect(code).toBe(78)
  })
})

describe('a program that embeds Cordage', () => {
  it('runs a turn through boot and ends by itself', async () => {
    await using place = await makePlace('empty')
    const patch = join(place.base, 'greet.patch.yml')
    await writeFile(
      patch,
      '- id: model-scripted\n  config: { scripts: { greet: { steps: [{ text: Hello there }] } } }\n',
    )
    expect(await script(place, 'embed.ts', place.home, place.project, patch)).toMatchObject({
      reason: 'completed',
      answer: 'Hello there',
    })
    expect(readdirSync(place.home)).not.toContain('sessions')
  })
})
