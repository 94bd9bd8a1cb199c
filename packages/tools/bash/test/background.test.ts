import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import jobs, { type Job } from '@cordage/core/job'
import type { AnyPlugin } from '@cordage/core/kernel'
import { openToolBench, type ToolBench, type ToolBenchOptions } from '@cordage/testkit'
import { afterEach, expect, it } from 'vitest'
import { jobsOf, type BenchJobs } from '../../jobs/test/jobs-of.ts'
import type { BackgroundValue } from '../src/background.ts'
import bash from '../src/index.ts'

let bench: ToolBench
let own: BenchJobs
afterEach(() => bench[Symbol.asyncDispose]())

const rows: Record<string, AnyPlugin> = { 'core-job': jobs, bash }

async function open(options: Partial<ToolBenchOptions> = {}): Promise<void> {
  bench = await openToolBench({ rows, env: { LANG: 'C.UTF-8' }, ...options })
  own = jobsOf(bench)
}

/** Runs `command` in the background and gives its job. */
async function start(command: string, more: object = {}): Promise<{ job: Job; text: string }> {
  const answer = await bench.call('bash', { command, run_in_background: true, ...more })
  const { job: id } = answer.value as BackgroundValue
  return { job: own.get(id), text: answer.text }
}

it('returns at once with the job, which goes on after the call', async () => {
  await open()
  const { job, text } = await start('until [ -e go ]; do sleep 0.01; done; echo there')
  expect(text).toBe(`running in the background as job-1, pid ${job.pid}`)
  expect(job).toMatchObject({ title: expect.stringContaining('until'), state: 'running' })
  await bench.call('bash', { command: 'touch go' })
  await job.ended
  expect([job.exit?.code, job.read(0).text]).toEqual([0, 'there\n'])
})

it('has the description as its title, and its own time limit where one is given', async () => {
  await open()
  const { job } = await start('echo before; sleep 60', { description: 'nap', timeout_ms: 200 })
  await job.ended
  expect(job).toMatchObject({ title: 'nap', state: 'exited', exit: { timedOut: true } })
  expect(job.read(0).text).toBe('before\n')
})

it('outlives a limit that would end it in the foreground, where nothing becomes a job', async () => {
  await open({ config: { bash: { timeoutMs: 100 } } })
  const { job } = await start('until [ -e go ]; do sleep 0.01; done')
  const answer = await bench.call('bash', { command: 'sleep 60' })
  expect(answer.text).toMatch(/^timed out after 0\.\d s and was ended/)
  expect([job.state, own.list()]).toEqual(['running', [job]])
})

it('keeps all of a long output in a blob, up to its limit', async () => {
  await open({ config: { bash: { maxJobSpillBytes: 300_000 } } })
  const whole = await start('yes 0123456789abcde | head -n 10000')
  const cut = await start('yes 0123456789abcde | head -n 100000')
  const short = await start('echo short')
  for (const { job } of [whole, cut, short]) await job.ended
  expect(whole.job.blob).toMatchObject({ bytes: 160_000, complete: true })
  expect(cut.job.blob).toMatchObject({ bytes: 1_600_000, complete: false })
  expect(short.job.blob).toBeUndefined()
  const bytes = await bench.session.getBlob(whole.job.blob?.hash ?? '')
  expect(Buffer.from(bytes).toString()).toBe('0123456789abcde\n'.repeat(10_000))
  expect(cut.job.read(0)).toMatchObject({ dropped: 1_400_000, left: 0 })
})

it('is denied in read-only, before anything runs', async () => {
  await open({ mode: 'read-only' })
  const answer = await bench.call('bash', { command: 'touch made', run_in_background: true })
  expect(answer.code).toBe('TOOL_DENIED')
  await expect(readFile(join(bench.project, 'made'))).rejects.toThrow('ENOENT')
  expect(own.list()).toEqual([])
})

it('starts nothing over the limit of jobs', async () => {
  await open({ config: { 'core-job': { maxRunning: 1 } } })
  await start('sleep 60')
  const answer = await bench.call('bash', { command: 'touch made', run_in_background: true })
  expect(answer.code).toBe('JOB_LIMIT')
  await expect(readFile(join(bench.project, 'made'))).rejects.toThrow('ENOENT')
})

it('is not offered where there are no jobs', async () => {
  await open({ rows: { bash } })
  const answer = await bench.call('bash', { command: 'true', run_in_background: true })
  expect(answer.code).toBe('INVALID_ARGS')
})
