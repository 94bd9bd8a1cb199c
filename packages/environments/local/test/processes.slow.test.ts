import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Command } from '@cordage/core/environment'
import { createProcesses } from '../src/processes.ts'
import { codeOf, collect, makeDirectory, never } from './fixture.ts'

const hostEnv = { PATH: process.env['PATH'], HOME: '/home/somebody', LC_ALL: 'C.UTF-8' }
const host = { env: hostEnv, home: '/nowhere', cwd: '/', version: '0' }
const processes = createProcesses(host, { env: ['EXTRA'], killGraceMs: 300 }, never)
const linux = process.platform === 'linux'

async function start(script: string, command: Partial<Command> = {}, signal = never) {
  const argv = processes.shell.argv(script)
  return processes.start({ cwd: '/', env: processes.baseEnv(), ...command, argv }, signal)
}

async function startArgv(command: Partial<Command>) {
  return processes.start({ argv: ['none-such'], cwd: '/', env: {}, ...command }, never)
}

async function run(script: string, command: Partial<Command> = {}, signal = never) {
  const running = await start(script, command, signal)
  const [output, exit] = await Promise.all([collect(running.output), running.exit])
  return { ...output, exit }
}

/** Live processes whose command line contains `mark`. */
function alive(mark: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return false
      const state = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.[0]
      return state !== 'Z' && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark)
    } catch {
      return false
    }
  })
}

let marks = 0
/** A duration that sleeps of this test only have. */
const makeMark = () => `${30_000 + ++marks}.${process.pid}`

describe('a process', () => {
  it('gives both streams and how it ended', async () => {
    const { stdout, stderr, exit } = await run('echo out; echo err >&2; exit 3')
    expect([stdout, stderr]).toEqual(['out\n', 'err\n'])
    expect(exit).toMatchObject({ code: 3, timedOut: false, aborted: false })
    expect(exit.durationMs).toBeGreaterThan(0)
    expect(exit).not.toHaveProperty('signal')
    const killed = await run('kill -9 $$')
    expect(killed.exit).toMatchObject({ signal: 'SIGKILL' })
    expect(killed.exit).not.toHaveProperty('code')
  })

  it('sees the given environment only', async () => {
    const { stdout } = await run('env', { env: { PATH: hostEnv.PATH ?? '', A: 'b' } })
    const names = stdout.split('\n').map((line) => line.split('=')[0])
    expect(
      names.filter((name) => name && !['PWD', 'SHLVL', '_', 'OLDPWD'].includes(name)).sort(),
    ).toEqual(['A', 'CORDAGE_RUN', 'PATH'])
  })

  it('reads an empty input, or the given one, or none of it', async () => {
    expect((await run('cat; echo end')).stdout).toBe('end\n')
    expect((await run('cat', { stdin: 'text' })).stdout).toBe('text')
    expect((await run('true', { stdin: 'x'.repeat(5_000_000) })).exit.code).toBe(0)
  })

  it('runs a command that begins with a dash', async () => {
    expect((await run('--help')).exit.code).toBe(127)
  })

  it('says why it could not start', async () => {
    await expect(startArgv({})).rejects.toMatchObject({
      code: 'PROCESS_START_FAILED',
      message: 'none-such could not be started: there is no such program.',
    })
    await expect(startArgv({ argv: ['/bin/true'], cwd: '/none' })).rejects.toThrow(
      '/none is not a dir',
    )
    await expect(startArgv({ argv: ['/tmp'] })).rejects.toThrow('permission denied')
    expect(await codeOf(startArgv({ argv: ['/bin/true', 'a\0b'] }))).toBe('PROCESS_START_FAILED')
    expect(await codeOf(startArgv({ argv: ['/bin/true', 'x'.repeat(3_000_000)] }))).toBe(
      'PROCESS_START_FAILED',
    )
  })

  it('goes on when its reader breaks off', async () => {
    const dir = await makeDirectory()
    const running = await start('head -c 5000000 /dev/zero; touch done', { cwd: dir })
    for await (const chunk of running.output) if (chunk.bytes.length > 0) break
    expect((await running.exit).code).toBe(0)
    expect(existsSync(join(dir, 'done'))).toBe(true)
  })

  it('keeps what was written when nobody reads until after the end', async () => {
    const running = await start('head -c 150000 /dev/zero')
    await running.exit
    expect((await collect(running.output)).stdout).toHaveLength(150_000)
    await expect(collect(running.output)).rejects.toThrow('read once')
  })
})

describe.runIf(linux)('a tree of processes', () => {
  it('ends with its shell, also what holds the output open', async () => {
    const mark = makeMark()
    const { stdout, exit } = await run(`sleep ${mark} & setsid sleep ${mark} & echo started`)
    expect([stdout, exit.code]).toEqual(['started\n', 0])
    expect(alive(mark)).toEqual([])
  })

  it('lets what is nearly done finish', async () => {
    expect((await run('(sleep 0.05; echo late) & echo first')).stdout).toBe('first\nlate\n')
  })

  it.each([
    ['in the group', (mark: string) => `sleep ${mark} & sleep ${mark}`],
    ['in another session', (mark: string) => `setsid sleep ${mark} & sleep ${mark}`],
    [
      'in another session without environment',
      (mark: string) => {
        return `env -i setsid sleep ${mark} & sleep ${mark}`
      },
    ],
    [
      'behind a parent that is gone',
      (mark: string) => {
        return `(setsid setsid sleep ${mark} &) ; sleep ${mark}`
      },
    ],
    [
      'that ignores the request',
      (mark: string) => {
        return `trap '' TERM; (trap '' TERM; setsid sleep ${mark}) & while :; do sleep ${mark}; done`
      },
    ],
    ['that is stopped', (mark: string) => `sleep ${mark} & kill -STOP $!; wait`],
    [
      'that starts others while it is ended',
      (mark: string) => {
        return `spawn() { trap 'setsid sleep ${mark} & spawn' TERM; while :; do sleep 0.01; done; }; spawn`
      },
    ],
  ])('leaves nothing after a time limit: %s', async (_, script) => {
    const mark = makeMark()
    const { exit } = await run(`echo begun; ${script(mark)}`, { timeoutMs: 150 })
    expect(exit).toMatchObject({ timedOut: true, aborted: false })
    expect(alive(mark)).toEqual([])
  })

  it('ends on abort, keeping the output so far and the status of a clean end', async () => {
    const controller = new AbortController()
    const running = start(
      "trap 'echo bye; exit 7' TERM; echo begun; while :; do sleep 0.01; done",
      {},
      controller.signal,
    )
    setTimeout(() => controller.abort(), 150)
    const { output, exit } = await running
    expect((await collect(output)).stdout).toBe('begun\nbye\n')
    expect(await exit).toMatchObject({ code: 7, aborted: true, timedOut: false })
    await expect(start('true', {}, controller.signal)).rejects.toMatchObject({ name: 'AbortError' })
  })

  it('is ended by kill, whose output may stay unread', async () => {
    const mark = makeMark()
    const running = await start(`yes & exec sleep ${mark}`)
    await sleep(50)
    await running.kill()
    expect(alive(mark)).toEqual([])
    expect(await running.exit).toMatchObject({ signal: 'SIGTERM', timedOut: false, aborted: false })
    await running.kill()
  })

  it('does not wait for a stranger that holds the output open', async () => {
    const dir = await makeDirectory()
    const pidFile = join(dir, 'pid')
    // Without environment, in its own session, and its parent gone: beyond what can be found.
    const { stdout } = await run(
      `(env -i setsid sh -c 'echo $$ > ${pidFile}; exec sleep 300' &); while ! test -s ${pidFile}; do sleep 0.01; done; echo x`,
    )
    expect(stdout).toBe('x\n')
    process.kill(Number(await readFile(pidFile, 'utf8')), 'SIGKILL')
  })

  it.each([
    ['exit', 3],
    ['stopping', 3],
    ['searching', 3],
    ['throw', 1],
  ])('does not outlive a process that ends at once (%s)', async (how, code) => {
    const [dir, mark] = [await makeDirectory(), makeMark()]
    const script = join(import.meta.dirname, 'exits.ts')
    const { status } = spawnSync(process.execPath, [script, how, dir, mark])
    expect(status).toBe(code)
    const until = Date.now() + 2_000
    while (alive(mark).length > 0 && Date.now() < until) await sleep(10)
    expect(alive(mark)).toEqual([])
  })

  it('inside another one is found by the outer marker too', async () => {
    const env = { ...hostEnv, CORDAGE_RUN: 'outer' }
    const inner = createProcesses({ ...host, env }, { env: [], killGraceMs: 0 }, never)
    const running = await inner.start({ argv: ['/usr/bin/env'], cwd: '/', env: {} }, never)
    expect((await collect(running.output)).stdout).toMatch(/^CORDAGE_RUN=outer:[\w-]{36}\n$/)
  })
})

describe('the environment for children', () => {
  it('has what is on the list and what the configuration adds', () => {
    const env = { PATH: '/bin', HOME: '/h', LC_TIME: 'C', TZ: 'UTC', EXTRA: 'x', EMPTY: undefined }
    const others = { OPENAI_API_KEY: 'k', LD_PRELOAD: '/x', BASH_ENV: '/x', NODE_OPTIONS: '-r x' }
    const some = createProcesses(
      { ...host, env: { ...env, ...others } },
      { env: ['EXTRA', 'EMPTY'], killGraceMs: 0 },
      never,
    )
    expect(some.baseEnv()).toEqual({
      PATH: '/bin',
      HOME: '/h',
      LC_TIME: 'C',
      TZ: 'UTC',
      EXTRA: 'x',
    })
  })

  it('runs sh where there is no bash', async () => {
    const dir = await makeDirectory()
    execFileSync('ln', ['-s', '/bin/sh', join(dir, 'sh')])
    const some = createProcesses(
      { ...host, env: { PATH: dir } },
      { env: [], killGraceMs: 0 },
      never,
    )
    expect(some.shell.kind).toBe('sh')
    expect(some.shell.argv('echo')).toEqual([join(dir, 'sh'), '-c', '--', 'echo'])
  })
})
