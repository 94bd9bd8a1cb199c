import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import jobs from '@cordage/core/job'
import { openScope } from '@cordage/core/kernel'
import { textMessage } from '@cordage/core/message'
import { estimateTokens } from '@cordage/core/model'
import { inboxSplice, type InboxQueue } from '@cordage/core/session'
import { openToolBench, type ToolBench } from '@cordage/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import bash from '../../bash/src/index.ts'
import plugin from '../src/index.ts'
import { jobsOf, type BenchJobs } from './jobs-of.ts'

let bench: ToolBench
let own: BenchJobs

beforeEach(async () => {
  const config = { 'core-job': { maxKeptChars: 60_000 } }
  bench = await openToolBench({ rows: { 'core-job': jobs, bash, 'tool-jobs': plugin }, config })
  own = jobsOf(bench)
})
afterEach(() => bench[Symbol.asyncDispose]())

const start = (command: string) => bench.call('bash', { command, run_in_background: true })
const output = (more: object = {}, signal?: AbortSignal) =>
  bench.call('job_output', { job: 'job-1', ...more }, signal)
const ended = (id = 'job-1') => own.get(id).ended
const touch = (name: string) => writeFile(join(bench.project, name), '')
const untilThere = (name: string) => `until [ -e ${name} ]; do sleep 0.01; done`

/** Waits until the job has printed what ends with `text`. */
const printed = async (text: string) => {
  const job = own.get('job-1')
  await expect.poll(() => job.read(0).text.endsWith(text)).toBe(true)
}

async function put(queue: InboxQueue, kind: 'user' | 'notice'): Promise<void> {
  const source =
    kind === 'user'
      ? ({ kind } as const)
      : ({ kind: 'plugin', row: 'core-job', form: 'notice' } as const)
  const message = textMessage(`${queue} ${kind}`, 'user', 'words', source)
  await bench.session.append([inboxSplice({ inserted: [{ queue, message }], cause: 'send' })])
}

describe('the tools for jobs', () => {
  it('are three, gone when the row is, and cost little of a prompt', async () => {
    const scope = openScope(bench.root, 'reader')
    const step = { provider: 'p', model: 'm', input: ['text'] }
    const { specs } = bench.root.tools.resolve(scope, step)
    await scope.close()
    const tools = specs.filter(({ name }) => name.startsWith('job_'))
    const parameter = specs.find(({ name }) => name === 'bash')?.parameters['properties']
    const { run_in_background: added } = parameter as Record<string, unknown>
    const texts = [...tools, { run_in_background: added }].map((spec) => JSON.stringify(spec))
    expect(added).toBeDefined()
    expect(texts.reduce((sum, text) => sum + estimateTokens(text), 0)).toBeLessThanOrEqual(200)
    expect(bench.offered()).toEqual(['bash', 'job_kill', 'job_list', 'job_output'])
    await bench.row('tool-jobs').dispose()
    expect(bench.offered()).toEqual(['bash'])
  })

  it('may be used in read-only, as they do nothing that was not allowed before', async () => {
    await bench[Symbol.asyncDispose]()
    const rows = { 'core-job': jobs, 'tool-jobs': plugin }
    bench = await openToolBench({ rows, mode: 'read-only' })
    expect((await bench.call('job_list', {})).text).toBe('no jobs')
  })

  it('know no job that was not started here', async () => {
    for (const name of ['job_output', 'job_kill']) {
      const answer = await bench.call(name, { job: 'job-1' })
      expect(answer.code).toBe('JOB_UNKNOWN')
      expect(answer.text).toContain('none was started. Jobs end with the process and the agent')
    }
  })
})

describe('job_output', () => {
  it('gives what is new since the last time, and how it ended', async () => {
    await start(`echo one; ${untilThere('go')}; echo two; exit 3`)
    await printed('one\n')
    expect((await output()).text).toMatch(/^running for \d+\.\d s\none\n$/)
    expect((await output()).text).toMatch(/^running for \d+\.\d s, no new output$/)
    await touch('go')
    const answer = await output({ wait_ms: 10_000 })
    expect(answer.text).toBe('exit code 3\ntwo\n')
    expect(answer.value).toMatchObject({ state: 'exited', exit: { code: 3 }, output: 'two\n' })
    expect((await output()).text).toBe('exit code 3, no new output')
  })

  it('waits no longer than it is told to', async () => {
    await start('sleep 60')
    expect((await output({ wait_ms: 50 })).value).toMatchObject({ state: 'running' })
    expect((await output({ wait_ms: 600_001 })).code).toBe('INVALID_ARGS')
  })

  it('waits no longer than until a person says something', async () => {
    await start('sleep 60')
    const waiting = output({ wait_ms: 600_000 })
    await put('next-step', 'notice')
    await put('next-turn', 'user')
    await put('next-step', 'user')
    expect((await waiting).value).toMatchObject({ state: 'running' })
    // And does not begin to where that was said before.
    expect((await output({ wait_ms: 600_000 })).value).toMatchObject({ state: 'running' })
  })

  it('is not ended by the notice of another job', async () => {
    await start(untilThere('go'))
    const waiting = output({ wait_ms: 600_000 })
    await put('next-step', 'notice')
    await touch('go')
    expect((await waiting).text).toBe('exit code 0, no new output')
  })

  it('loses nothing of what a call that was aborted would have shown', async () => {
    await start('echo precious; sleep 60')
    await printed('precious\n')
    const abort = new AbortController()
    const waiting = output({ wait_ms: 600_000 }, abort.signal)
    await new Promise((resolve) => setTimeout(resolve, 100))
    abort.abort()
    expect((await waiting).code).toBe('ABORTED')
    expect((await output()).text).toMatch(/\nprecious\n$/)
  })

  it('pages through a long output without a gap, and says what came before is lost', async () => {
    await start('seq 1 20000')
    await ended()
    const whole = Array.from({ length: 20_000 }, (_, index) => `${index + 1}\n`).join('')
    const first = await output()
    const lost = whole.length - 60_000
    expect(first.text).toMatch(
      new RegExp(`^exit code 0; ${lost} characters before this are lost; 31000 characters follow`),
    )
    let read = (first.value as { output: string }).output
    while (read.length < 60_000) {
      const { value, text } = await output()
      expect(text).not.toContain('harness-note')
      read += (value as { output: string }).output
    }
    expect(read).toBe(whole.slice(lost))
  })

  it('says how a job stands before anything that it printed', async () => {
    await start('echo "exit code 0, no new output"; exit 1')
    await ended()
    expect((await output()).text).toBe('exit code 1\nexit code 0, no new output\n')
  })

  it('of two jobs may run at once', async () => {
    await start(untilThere('go'))
    await start('touch go')
    const answers = await bench.batch(
      ['job-1', 'job-2'].map((job) => ({ name: 'job_output', args: { job, wait_ms: 60_000 } })),
    )
    expect(answers.map(({ text }) => text)).toEqual(Array(2).fill('exit code 0, no new output'))
  })
})

describe('job_kill', () => {
  it('acknowledges, and the state tells that it has ended', async () => {
    await start('trap "sleep 0.3; exit 7" TERM; echo up; while :; do sleep 0.01; done')
    await printed('up\n')
    const answer = await bench.call('job_kill', { job: 'job-1' })
    expect(answer.text).toMatch(/^job-1 is running for \d+\.\d s, asked to end$/)
    expect(answer.value).toMatchObject({ requested: true, state: 'running' })
    expect((await output({ wait_ms: 10_000 })).text).toMatch(/^killed: exit code 7\nup\n/)
  })

  it('says that a job had ended before', async () => {
    await start('exit 4')
    await ended()
    const { text, value } = await bench.call('job_kill', { job: 'job-1' })
    expect([text, value]).toMatchObject([
      'job-1 had ended before: exit code 4',
      { requested: false, state: 'exited' },
    ])
  })
})

describe('job_list', () => {
  it('shows each job on one line, those that ended too', async () => {
    await start('true\necho "job-9 exit code 0"')
    await ended()
    await start('sleep 60')
    const { text } = await bench.call('job_list', {})
    expect(text.split('\n')).toEqual([
      'job-1 exit code 0 · true\\x0aecho "job-9 exit code 0"',
      expect.stringMatching(/^job-2 running for \d+\.\d s · sleep 60$/),
    ])
  })
})
