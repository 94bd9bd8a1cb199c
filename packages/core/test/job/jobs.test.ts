import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openScope, scopeOf, type Scope } from '@cordage/core/kernel'
import { jobEnded, type Job, type JobCapture } from '@cordage/core/job'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import plugin from '../../src/job/index.ts'
import { openBench, type Bench } from '../tool/bench.ts'
import { isAlive, SERVER, serverPids } from './processes.ts'

let bench: Bench

beforeEach(async () => {
  bench = await openBench()
  await bench.mount('core-job', plugin)
})
afterEach(() => bench[Symbol.asyncDispose]())

const decode: JobCapture = async (output, show) => {
  for await (const { bytes } of output) show(Buffer.from(bytes).toString())
  return undefined
}

async function start(command: string, scope: Scope = bench.scope, capture = decode): Promise<Job> {
  const { processes, jobs } = bench.root
  const process = await processes.start(
    { argv: ['bash', '-c', command], cwd: bench.project, env: processes.baseEnv() },
    new AbortController().signal,
  )
  return jobs.start(scope, { title: command, callId: 'call', process, capture })
}

describe('a job', () => {
  it('runs, can be read while it does, and says how it ended', async () => {
    const job = await start('echo one; until [ -e go ]; do sleep 0.01; done; echo two; exit 3')
    await expect.poll(() => job.read(0).text).toBe('one\n')
    expect(job).toMatchObject({ id: 'job-1', state: 'running', exit: undefined })
    const { next } = job.read(0)
    await (
      await start('touch go')
    ).ended
    await job.ended
    expect(job.read(next).text).toBe('two\n')
    expect(job).toMatchObject({ state: 'exited', exit: { code: 3, aborted: false } })
    expect(job.kill()).toBe(false)
    expect(job.state).toBe('exited')
  })

  it('that is killed ends with everything it started', async () => {
    const job = await start(SERVER)
    const pids = await serverPids(bench.project)
    await expect.poll(() => job.read(0).text).toContain('line 3\n')
    expect(await Promise.all(pids.map(isAlive))).toEqual([true, true])
    expect([job.kill(), job.state, job.killRequested]).toEqual([true, 'running', true])
    await job.ended
    expect(job.state).toBe('killed')
    expect(await Promise.all(pids.map(isAlive))).toEqual([false, false])
  })

  it('whose output cannot be kept still ends, and the log says so', async () => {
    const job = await start('echo one; exit 1', bench.scope, () =>
      Promise.reject(new Error('full')),
    )
    await job.ended
    expect(job).toMatchObject({ state: 'exited', exit: { code: 1 }, blob: undefined })
    expect(bench.logged.join()).toContain('the output of job-1 is incomplete')
  })
})

it('no job outlives the process that started it, even where that exits at once', async () => {
  const script = join(import.meta.dirname, 'exit-with-job.ts')
  await promisify(execFile)(process.execPath, [script, bench.project])
  const pids = await serverPids(bench.project)
  expect(await Promise.all(pids.map(isAlive))).toEqual([false, false])
})

describe('the jobs of a scope', () => {
  it('end with it, before its close resolves', async () => {
    const scope = openScope(bench.root, 'closing')
    const job = await start(SERVER, scope)
    const pids = await serverPids(bench.project)
    await scope.close()
    expect(job.state).toBe('killed')
    expect(await Promise.all(pids.map(isAlive))).toEqual([false, false])
    expect(bench.root.jobs.list(scope)).toEqual([])
  })

  it('are those of no other, an inner one included', async () => {
    const inner = openScope(bench.root, 'child', bench.scope)
    await start('true')
    const [own, its] = [await start('true'), await start('true', inner)]
    expect([own.id, its.id]).toEqual(['job-2', 'job-1'])
    const { jobs } = bench.root
    expect(jobs.get(bench.scope, 'job-2')).toBe(own)
    expect(jobs.list(inner)).toEqual([its])
    expect(() => jobs.get(inner, 'job-2')).toThrow(
      /There is no job job-2; there are job-1\. .*resume/,
    )
  })

  it('are no more at a time than they may be', async () => {
    await Promise.all(Array.from({ length: 9 }, () => start('sleep 60')))
    const last = await start('sleep 60')
    const { jobs } = bench.root
    expect(() => jobs.admit(bench.scope)).toThrow('10 jobs are running')
    await expect(start('touch never')).rejects.toThrow('10 jobs are running')
    last.kill()
    await last.ended
    expect((await start('true')).id).toBe('job-11')
  })

  it('are forgotten when many more have ended since', async () => {
    const first = await start('true')
    await first.ended
    const running = await start('sleep 60')
    for (let count = 0; count < 20; count += 1) await (await start('true')).ended
    const ids = bench.root.jobs.list(bench.scope).map(({ id }) => id)
    expect([ids.length, ids[0], ids.includes(running.id)]).toEqual([21, 'job-2', true])
  })

  it('have each end announced once, to their scope', async () => {
    const seen: string[] = []
    const inner = openScope(bench.root, 'child', bench.scope)
    const other = openScope(bench.root, 'other')
    jobEnded.use(inner.ctx, ({ job, scope }) => seen.push(`${job.id} ${job.state} ${scope.label}`))
    jobEnded.use(other.ctx, ({ job }) => seen.push(`not for it: ${job.id}`))
    const job = await start('true', inner)
    await job.ended
    await (
      await start('true')
    ).ended
    expect(scopeOf(inner.ctx)).toBe(inner)
    expect(seen).toEqual(['job-1 exited child'])
  })
})
