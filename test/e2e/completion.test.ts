import { spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { needs } from '../fixture/needs.ts'
import { cleanEnv, runCli } from './fixture/cli.ts'
import { cordageBin } from './fixture/installation.ts'
import { makePlace, type Place } from './fixture/place.ts'

let place: Place

beforeAll(async () => {
  place = await makePlace('empty')
  symlinkSync(cordageBin, join(place.base, 'cordage'))
  for (const id of ['01AAAAAAAAAAAAAAAAAAAAAAAA', '01BBBBBBBBBBBBBBBBBBBBBBBB']) {
    mkdirSync(join(place.home, 'sessions', id, 'log'), { recursive: true })
  }
})
afterAll(() => place[Symbol.asyncDispose]())

const scriptOf = async (shell: string) => (await runCli(place, ['completion', shell])).stdout

function shell(program: string, ...args: string[]): string {
  const { PATH, ...env } = cleanEnv(place)
  const path = `${place.base}:${PATH}`
  const options = { env: { ...env, PATH: path }, cwd: place.project, encoding: 'utf8' } as const
  return spawnSync(program, args, options).stdout
}

/** What bash offers when somebody presses TAB behind `line`; it takes words apart as it does. */
async function inBash(...words: string[]): Promise<string[]> {
  const quoted = words.map((word) => `'${word}'`).join(' ')
  const typed = `COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}`
  const script = `${await scriptOf('bash')}\n${typed}\n_cordage; printf '%s\\n' "\${COMPREPLY[@]}"`
  return shell('bash', '-c', script)
    .split('\n')
    .filter((line) => line !== '')
}

describe('completion', () => {
  it('of bash completes commands, their subcommands and options', async () => {
    expect(await inBash('cordage', 'sess')).toEqual(['sessions'])
    expect(await inBash('cordage', 'sessions', 'se')).toEqual(['search'])
    expect(await inBash('cordage', 'run', '--max-st')).toEqual(['--max-steps'])
    expect(await inBash('cordage', 'do it', '--eff')).toEqual(['--effort'])
    expect(await inBash('cordage', 'run', '--permission', 'wo')).toEqual(['workspace-write'])
  })

  it('of bash completes profiles, models, providers, rows and sessions', async () => {
    expect(await inBash('cordage', '--profile', '')).toEqual(['headless', 'sdk-minimal'])
    const flash = ['deepseek/deepseek-v4-flash']
    expect(await inBash('cordage', 'run', '--model', 'deepseek/deepseek-v4-f')).toEqual(flash)
    expect(await inBash('cordage', 'run', '--model', '=', 'deepseek/deepseek-v4-f')).toEqual(flash)
    expect(await inBash('cordage', 'auth', 'set', 'dee')).toEqual(['deepseek'])
    expect(await inBash('cordage', 'config', 'explain', 'tool-ba')).toEqual(['tool-bash'])
    const second = ['01BBBBBBBBBBBBBBBBBBBBBBBB']
    expect(await inBash('cordage', 'resume', '01B')).toEqual(second)
    const deleted = await inBash(
      'cordage',
      'sessions',
      'delete',
      '01AAAAAAAAAAAAAAAAAAAAAAAA',
      '01B',
    )
    expect(deleted).toEqual(second)
  })

  it('offers what an overlay on the line adds', async () => {
    const file = join(place.base, 'team.patch.yml')
    const route = { displayName: 'Team', api: 'openai-completions', baseURL: 'http://127.0.0.1:9' }
    const team = { ...route, models: [{ id: 'own' }] }
    writeFileSync(file, JSON.stringify([{ id: 'model-openai', merge: { providers: { team } } }]))
    expect(await inBash('cordage', '--patch', file, '--model', 'team')).toEqual(['team/own'])
  })

  it('offers nothing, and says nothing, where the configuration cannot be read', async () => {
    const file = join(place.base, 'nowhere.yml')
    expect(await inBash('cordage', '--patch', file, '--model', '')).toEqual([])
    expect(await inBash('cordage', 'a task', 'with a word')).toEqual([])
  })

  it('leaves nothing behind: no log, nothing of a boot', async () => {
    await inBash('cordage', '--model', '')
    expect(shell('sh', '-c', `ls '${place.home}'`)).toBe('cache\nsessions\n')
  })

  it.for([
    ['zsh', 'compdef() { echo "$1"; }; source "$0"', /^_cordage$/m],
    ['fish', 'source $argv[1]; complete -C "cordage sessions se"', /^search\t/m],
  ] as const)('of %s works in that shell', async ([name, line, expected], test) => {
    needs(test, name)
    const file = join(place.base, `completion.${name}`)
    writeFileSync(file, await scriptOf(name))
    expect(shell(name, '-c', line, file)).toMatch(expected)
  })

  it('is there for no other shell', async () => {
    const { code, stderr } = await runCli(place, ['completion', 'tcsh'])
    expect(stderr).toContain('bash, zsh and fish')
    expect(code).toBe(2)
  })
})
