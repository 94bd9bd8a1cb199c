import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { cleanEnv, runCli, startCli, type Running } from './fixture/cli.ts'
import { cordageBin } from './fixture/installation.ts'
import { needs } from '../fixture/needs.ts'
import { makePlace, repository, type Place } from './fixture/place.ts'
import { latestSession } from './fixture/read-log.ts'
import { scripts } from './fixture/scripts.ts'

const bin = cordageBin

async function until(condition: () => boolean, what: string): Promise<void> {
  for (let tries = 0; tries < 1500; tries++) {
    if (condition()) return
    await sleep(20)
  }
  expect.unreachable(what)
}

/** A run whose one command sleeps until somebody ends it; resolves once the command runs. */
async function sleeping(place: Place, command: string): Promise<Running> {
  const step = { calls: [{ name: 'bash', arguments: { command } }] }
  const patch = await scripts(place, { sleep: { steps: [step, { text: 'Slept' }] } })
  const running = startCli(place, [...patch, 'run', '--model', 'scripted/sleep', 'Sleep'])
  await until(() => readdirSync(place.project).includes('asleep'), 'the command never started')
  return running
}

/** What the one session there is shows. */
async function latest(place: Place): Promise<string> {
  return (await runCli(place, ['sessions', 'show', latestSession(place.home)])).stdout
}

/** Live processes that work in `folder`. */
const processesIn = (folder: string): string[] => {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`) === folder && alive(Number(pid))
    } catch {
      return false
    }
  })
}

const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return false
  }
}

describe('signals', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s ends a run in order, its commands too, with %i', async (signal, exit) => {
    await using place = await makePlace('empty')
    const running = await sleeping(place, 'echo $$ > asleep.tmp; mv asleep.tmp asleep; sleep 300')
    const pid = Number(readFileSync(join(place.project, 'asleep'), 'utf8'))
    expect(alive(pid)).toBe(true)
    running.child.kill(signal)
    const { code, stderr } = await running.ended
    expect(code, stderr).toBe(exit)
    expect(stderr).toContain(`${signal}: stopping in order`)
    await until(() => !alive(pid), 'the command outlived the run')
    expect(await latest(place)).toContain('turn 1: aborted')
  })

  it('end at once the second time, and no command outlives that', async () => {
    await using place = await makePlace('empty')
    const stubborn =
      "trap '' TERM INT; echo $$ > tmp; mv tmp asleep; setsid sleep 300 & sleep 300; sleep 300"
    const running = await sleeping(place, stubborn)
    const pid = Number(readFileSync(join(place.project, 'asleep'), 'utf8'))
    running.child.kill('SIGINT')
    await until(() => running.stderr().includes('stopping in order'), 'it did not begin to stop')
    await sleep(100)
    running.child.kill('SIGINT')
    const { code } = await running.ended
    expect(code).toBe(130)
    // Stopping in order gives the command two seconds, and then says how the turn ended.
    expect(await latest(place)).not.toContain('turn 1: aborted')
    await until(() => !alive(pid), 'the command outlived the process')
    expect(processesIn(place.project)).toEqual([])
  })
})

describe('a Node that is too old', () => {
  const pretend = join(import.meta.dirname, 'fixture/old-node.mjs')

  it('starts again under the Node of the project', async () => {
    await using place = await makePlace('empty')
    // A checkout has a Node of its own; who installs the packed product brings theirs.
    const own = join(repository, 'packages/frontends/cli/bin/cordage.js')
    const args = ['--import', pretend, own, 'config', 'explain', 'core-loop']
    const { status, stdout } = spawnSync(process.execPath, args, {
      env: cleanEnv(place),
      encoding: 'utf8',
    })
    expect(stdout).toContain('@cordage/core/loop')
    expect(status).toBe(0)
  })

  it('says so in one line where there is no other', async () => {
    await using place = await makePlace('empty')
    const alone = join(place.base, 'alone')
    await mkdir(join(alone, 'bin'), { recursive: true })
    await cp(bin, join(alone, 'bin/cordage.js'))
    await writeFile(join(alone, 'package.json'), '{ "type": "module" }')
    const args = ['--import', pretend, join(alone, 'bin/cordage.js'), 'task']
    const { status, stderr } = spawnSync(process.execPath, args, {
      env: cleanEnv(place),
      encoding: 'utf8',
    })
    expect(stderr).toBe(
      'cordage: Node 18.0.0 is too old; it takes 22.19 or newer. Install one ' +
        '(https://nodejs.org) and try again.\n',
    )
    expect(status).toBe(78)
  })

  it('reads the launcher, whatever it is', () => {
    const source = readFileSync(bin, 'utf8')
    expect(source).not.toMatch(/\?\.|\?\?|#\w+;|\bawait\b/)
  })
})

describe('the log of the program', () => {
  it('is always there, for its owner only, without the secrets of the environment', async () => {
    await using place = await makePlace('empty')
    const secret = 'sk-0123456789abcdef'
    const patch = join(place.base, 'leak.patch.yml')
    const plugin = join(place.base, 'leak.ts')
    await writeFile(
      plugin,
      `export default { name: 'leak', apply: (ctx: { logger: { warn(text: string): void } }) =>
        ctx.logger.warn('the key is ' + ${JSON.stringify(secret)}) }`,
    )
    await writeFile(patch, `- insert: [{ id: leak, name: ./leak.ts }]\n`)
    const env = { DEEPSEEK_API_KEY: secret }
    const args = ['--patch', patch, '--debug', 'doctor', '--offline']
    const { code, stderr } = await runCli(place, args, { env })
    expect(code, stderr).toBe(0)
    const file = join(place.home, 'logs/cordage.log')
    expect(readFileSync(file, 'utf8')).toContain('the key is [redacted]')
    expect(stderr).toContain('the key is [redacted]')
    expect(readFileSync(file, 'utf8') + stderr).not.toContain(secret)
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })
})

describe('plugins', () => {
  it('of a path may be TypeScript, and get the one core and container there is', async () => {
    await using place = await makePlace('empty')
    await writeFile(
      join(place.base, 'mine.ts'),
      `import { definePlugin } from '@cordage/core/kernel'
import { Context } from 'cordis'
export default definePlugin({ name: 'mine', apply: (ctx) => {
  if (!(ctx.root instanceof Context)) throw new TypeError('another container')
} })`,
    )
    const patch = join(place.base, 'mine.patch.yml')
    await writeFile(patch, `- insert: [{ id: mine, name: ./mine.ts }]\n`)
    const { code, stdout, stderr } = await runCli(place, ['--patch', patch, 'doctor'])
    expect(stdout, stderr).toMatch(/(\d+) of \1 active/)
    // Nothing but a model is missing.
    expect(code).toBe(1)
  })

  it('that are TypeScript below node_modules are refused with that reason', async () => {
    await using place = await makePlace('empty')
    const folder = join(place.base, 'node_modules/their-plugin')
    await mkdir(folder, { recursive: true })
    await writeFile(
      join(folder, 'package.json'),
      '{ "name": "their-plugin", "type": "module", "exports": "./index.ts" }',
    )
    await writeFile(join(folder, 'index.ts'), 'export default { apply: () => {} }')
    const patch = join(place.base, 'their.patch.yml')
    await writeFile(patch, '- insert: [{ id: theirs, name: their-plugin }]\n')
    const { code, stdout } = await runCli(place, ['--patch', patch, 'config', 'check'])
    expect(stdout).toMatch(/their\.patch\.yml:1: .*"theirs".*TypeScript below node_modules/)
    expect(code).toBe(78)
  })

  it('are found from the real path of the file that names them', async () => {
    await using place = await makePlace('empty')
    const real = join(place.base, 'real')
    await mkdir(real)
    await writeFile(join(real, 'near.mjs'), 'export default { name: "near", apply: () => {} }')
    await writeFile(join(real, 'near.patch.yml'), '- insert: [{ id: near, name: ./near.mjs }]\n')
    await symlink(join(real, 'near.patch.yml'), join(place.base, 'link.patch.yml'))
    const patch = join(place.base, 'link.patch.yml')
    const { code, stdout } = await runCli(place, ['--patch', patch, 'config', 'explain', 'near'])
    expect(stdout).toContain(join(dirname(join(real, 'x')), 'near.patch.yml'))
    expect(code).toBe(0)
    expect((await runCli(place, ['--patch', patch, 'config', 'check'])).code).toBe(0)
  })
})

describe('a process that a plugin ends', () => {
  const plugged = async (place: Place, apply: string) => {
    const patch = join(place.base, 'theirs.patch.yml')
    const file = join(place.base, 'theirs.mjs')
    await writeFile(file, `export default { name: 'theirs', apply() { ${apply} } }`)
    await writeFile(patch, '- insert: [{ id: their-row, name: ./theirs.mjs }]\n')
    const { code, stdout, stderr } = await runCli(place, ['--patch', patch, 'doctor', '--offline'])
    return { code, stdout, stderr, file }
  }

  it('is no success, whatever code it gave', async () => {
    await using place = await makePlace('empty')
    const { code, stdout, stderr } = await plugged(place, 'process.exit(0)')
    expect(stderr).toBe(
      'cordage: something ended the process before the command was done ' +
        '(not ours: the plugins of their-row)\n',
    )
    expect([code, stdout]).toEqual([1, ''])
  })

  it('by a throw that nobody catches names the file, the line and the row', async () => {
    await using place = await makePlace('empty')
    const { code, stderr, file } = await plugged(
      place,
      "queueMicrotask(() => { throw new TypeError('boo') }); return new Promise(() => {})",
    )
    expect(stderr).toContain('Unexpected TypeError')
    expect(stderr).toContain(`at ${file}:1 (row "their-row")`)
    expect(readFileSync(join(place.home, 'logs/cordage.log'), 'utf8')).toContain('TypeError: boo')
    expect(code).toBe(1)
  })
})

describe('a promise that a plugin left alone', () => {
  it('ends nothing when it fails: the file, the line and the row are told', async () => {
    await using place = await makePlace('sample')
    const patch = join(place.base, 'theirs.patch.yml')
    const file = join(place.base, 'theirs.mjs')
    const fail = 'Promise.reject(new TypeError("boo")); void Promise.reject(Object.create(null))'
    await writeFile(file, `export default { name: 'theirs', apply() { void ${fail} } }`)
    await writeFile(patch, '- insert: [{ id: their-row, name: ./theirs.mjs }]\n')
    const task = ['--model', 'scripted/fix-a-bug', 'fix the failing test']
    const { code, stderr } = await runCli(place, ['--patch', patch, ...task])
    expect(stderr).toContain(`at ${file}:1 (row "their-row")`)
    expect(stderr).toContain('what runs goes on')
    expect(readFileSync(join(place.home, 'logs/cordage.log'), 'utf8')).toContain('TypeError: boo')
    expect(code).toBe(0)
  })
})

describe('bare cordage in a terminal', () => {
  it('says what to do next', async (test) => {
    // It gives the process a terminal.
    needs(test, 'script')
    await using place = await makePlace('empty')
    const args = ['-qec', `'${process.execPath}' '${bin}'`, '/dev/null']
    const text = execFileSync('script', args, { env: cleanEnv(place), encoding: 'utf8' })
    expect(text).toContain('cordage "fix the failing test"')
    expect(text).toMatch(/model +none yet/)
    expect(text).toMatch(/sessions +none of this project/)
    expect(text).toMatch(/cordage auth set deepseek +keep a key.*DEEPSEEK_API_KEY/)
  })
})
