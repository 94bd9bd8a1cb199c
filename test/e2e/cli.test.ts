import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { cleanEnv, jsonLines, runCli } from './fixture/cli.ts'
import { cordageBin } from './fixture/installation.ts'
import { makePlace, type Place } from './fixture/place.ts'
import { scripts } from './fixture/scripts.ts'

const bin = cordageBin
const fixABug = ['--model', 'scripted/fix-a-bug']

describe('the main job', () => {
  it('repairs the sample project, answer on stdout and steps on stderr', async () => {
    await using place = await makePlace()
    const { code, stdout, stderr } = await runCli(place, ['run', ...fixABug, 'Fix the test'])
    expect(code, stderr).toBe(0)
    expect(stdout).toMatch(/^The bug is fixed[^\n]*\n$/)
    expect(stderr).toContain('The scripted model is in use')
    expect(stderr).toContain('DEEPSEEK_API_KEY')
    expect(stderr).toContain('shell: unconfined')
    for (const step of [1, 2, 3, 4, 5, 6]) expect(stderr).toContain(`step ${step}`)
    const fixed = await readFile(join(place.project, 'src/cart.js'), 'utf8')
    expect(fixed).toContain('discount / 100')
  })

  it('says nothing but the answer with --quiet, and JSON lines that parse as a stream', async () => {
    await using place = await makePlace()
    const stream = ['--output', 'stream-json']
    const loud = await runCli(place, ['run', ...fixABug, ...stream, 'Fix the test'])
    const lines = jsonLines(loud.stdout)
    expect(lines[0]).toMatchObject({ type: 'session/open', scripted: true })
    expect(lines.at(-1)).toMatchObject({ type: 'result', reason: 'completed' })
    expect(loud.stderr).toBe('')
    const { stdout, stderr } = await runCli(place, ['continue', '--quiet', 'And now?'])
    expect(stderr).toBe('')
    expect(stdout).toBe('The recorded run ends here.\n')
  })
})

describe('exit codes', () => {
  it('are 78 with one message of every way when no credential is there, before a boot', async () => {
    await using place = await makePlace('empty')
    const { code, stdout, stderr } = await runCli(place, ['do something'])
    expect(code).toBe(78)
    expect(stdout).toBe('')
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
    for (const vendor of ['DEEPSEEK', 'OPENAI', 'ANTHROPIC']) {
      expect(stderr).toContain(`${vendor}_API_KEY`)
      expect(stderr).toContain(`${vendor}_BASE_URL`)
    }
    expect(stderr).toContain('--model scripted/fix-a-bug')
    expect(() => statSync(join(place.home, 'logs'))).toThrow(/ENOENT/)
  })

  it.each([
    ['an unknown option', ['run', '--modle', 'x', 'task'], /unknown option '--modle'.*--model/s],
    ['an unknown subcommand', ['sessions', 'lst'], /unknown command 'lst'.*list/s],
    ['a misspelt command', ['sesions', 'list'], /no command 'sesions'; did you mean sessions/],
    ['a count of zero', ['run', '--max-steps', '0', 'task'], /--max-steps.*whole number/s],
    ['a count that is none', ['run', '--max-tokens', '1e3', 'task'], /--max-tokens/],
    ['a duration without a unit', ['run', '--timeout', '90', 'task'], /--timeout.*90s/s],
    ['a negative cost', ['run', '--max-cost=-1', 'task'], /--max-cost.*dollars/s],
    ['an unknown mode', ['run', '--permission', 'all', 'task'], /read-only, workspace-write/],
    ['a missing directory', ['run', '--cwd', 'nowhere', 'task'], /no directory .*nowhere/],
    ['no task', ['run'], /nothing to do/],
    ['an unknown row', ['config', 'explain', 'tool-bahs'], /no row "tool-bahs".*tool-bash/s],
    ['an unknown tool', ['tools', 'bahs'], /"bahs".*bash/s],
  ])('are 2 for %s, in one message without a stack', async (_, args, message) => {
    await using place = await makePlace('empty')
    const { code, stdout, stderr } = await runCli(place, args)
    expect(stderr).toMatch(message)
    expect(stderr).not.toMatch(/^\s+at /m)
    expect(stdout).toBe('')
    expect(code).toBe(2)
  })

  it('are 78 for an unknown model provider and name the known ones', async () => {
    await using place = await makePlace('empty')
    const { code, stderr } = await runCli(place, ['run', '--model', 'opnai/gpt', 'task'])
    expect(stderr).toMatch(/no provider "opnai".*openai/s)
    expect(code).toBe(78)
  })

  it('are 124 when a limit cuts the run short', async () => {
    await using place = await makePlace()
    const { code, stderr } = await runCli(place, ['run', ...fixABug, '--max-steps', '2', 'Fix it'])
    expect(code, stderr).toBe(124)
    expect(stderr).toContain('BUDGET_EXCEEDED')
    expect(stderr).toContain('cordage resume')
    const again = await runCli(place, ['continue', '--interrupted', '--quiet'])
    expect(again.code, again.stderr).toBe(0)
    const nothing = await runCli(place, ['continue', '--interrupted'])
    expect(nothing.code, nothing.stderr).toBe(2)
    expect(nothing.stderr).toContain('NOTHING_INTERRUPTED')
  })

  it('are 75 for trouble of the provider, 77 for a refused key', async () => {
    await using place = await makePlace('empty')
    const patch = await scripts(place, {
      down: { steps: [{ fail: 'QUOTA' }] },
      refused: { steps: [{ fail: 'AUTH' }] },
    })
    const down = await runCli(place, [...patch, '--model', 'scripted/down', 'x'])
    expect(down.code, down.stderr).toBe(75)
    const refused = await runCli(place, [...patch, '--model', 'scripted/refused', 'x'])
    expect(refused.code, refused.stderr).toBe(77)
  })

  it('are 78 with file and line of every mistake in a layer, at once', async () => {
    await using place = await makePlace('empty')
    const patch = join(place.base, 'bad.patch.yml')
    await writeFile(
      patch,
      '- { id: tool-bahs, disabled: true }\n- id: policy-retry\n  confg: {}\n' +
        '- { id: core-loop, config: { maxParallelToolCalls: many } }\n',
    )
    const { code, stderr } = await runCli(place, ['--patch', patch, ...fixABug, 'task'])
    expect(stderr).toContain(`${patch}:1: There is no row "tool-bahs" to change.`)
    expect(stderr).toContain('tool-bash')
    expect(stderr).toMatch(/bad\.patch\.yml:3: .*confg.*config/)
    expect(stderr).toMatch(/bad\.patch\.yml:4: .*maxParallelToolCalls/)
    expect(stderr).not.toMatch(/^\s+at /m)
    expect(code).toBe(78)
  })

  it('show a stack only with --debug', async () => {
    await using place = await makePlace('empty')
    const { stderr } = await runCli(place, ['--debug', '--profile', 'nope', 'config', 'dump'])
    expect(stderr).toMatch(/^\s+at /m)
  })
})

describe('stdin', () => {
  const greet = { greet: { steps: [{ text: 'Hello' }] } }
  const lastUser = async (place: Place) => {
    const [session] = await list(place)
    const shown = await runCli(place, ['sessions', 'show', session?.header.id ?? ''])
    return shown.stdout
  }

  it('is the task when it is piped, with - and without', async () => {
    await using place = await makePlace('empty')
    const patch = await scripts(place, greet)
    for (const words of [[], ['-']]) {
      const args = [...patch, 'run', '--model', 'scripted/greet', ...words]
      const { code, stderr } = await runCli(place, args, { stdin: 'from the pipe\n' })
      expect(code, stderr).toBe(0)
      expect(await lastUser(place)).toContain('> from the pipe')
    }
  })

  it('follows the words of the task', async () => {
    await using place = await makePlace('empty')
    const args = [...(await scripts(place, greet)), 'run', '--model', 'scripted/greet', 'review']
    await runCli(place, args, { stdin: 'diff --git\n' })
    expect(await lastUser(place)).toContain('> review\n\ndiff --git')
  })

  it('that nobody closes does not hold up a task', async () => {
    await using place = await makePlace('empty')
    const args = [...(await scripts(place, greet)), 'run', '--model', 'scripted/greet', 'review']
    const { code, stderr } = await neverClosed(place, args)
    expect(stderr).toContain('Nothing came through stdin')
    expect(code).toBe(0)
  })
})

async function neverClosed(place: Place, args: string[]) {
  const child = spawn(process.execPath, [bin, ...args], {
    cwd: place.project,
    env: cleanEnv(place),
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stderr }
}

interface Listed {
  readonly header: { readonly id: string; readonly project: string }
}

async function list(place: Place): Promise<Listed[]> {
  const { stdout } = await runCli(place, ['sessions', 'list', '--output', 'json'])
  return JSON.parse(stdout) as Listed[]
}
