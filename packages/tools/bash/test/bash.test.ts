import { openToolBench, type ToolBench } from '@cordage/testkit'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import bash from '../src/index.ts'
import type { BashValue } from '../src/outcome.ts'

let bench: ToolBench
const env = { LANG: 'C.UTF-8', SECRET_API_KEY: 'sk-must-not-be-seen' }

beforeEach(async () => {
  bench = await openToolBench({ rows: { bash }, env })
})
afterEach(() => bench[Symbol.asyncDispose]())

const run = (command: string, more: object = {}, signal?: AbortSignal) => {
  return bench.call('bash', { command, ...more }, signal)
}
const valueOf = (answer: { value: unknown }) => answer.value as BashValue

async function isAlive(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return stat !== '' && !/\) Z /.test(stat)
}

async function readPid(name: string): Promise<number> {
  for (;;) {
    const text = await readFile(join(bench.project, name), 'utf8').catch(() => '')
    if (text.endsWith('\n')) return Number(text)
    await sleep(10)
  }
}

describe('bash', () => {
  it('adds one tool, which is gone when the row is', async () => {
    expect(bench.offered()).toEqual(['bash'])
    await bench.row('bash').dispose()
    expect(bench.offered()).toEqual([])
  })

  it('gives output of both streams in order, and a failure for a status', async () => {
    const answer = await run('echo one; sleep 0.05; echo two >&2; sleep 0.05; echo three; exit 3')
    expect(answer.isError).toBe(true)
    expect(answer.text).toBe('exit code 3\none\ntwo\nthree\n')
    expect(valueOf(answer).exit).toMatchObject({ code: 3, timedOut: false, aborted: false })
  })

  it('says that there was no output', async () => {
    expect((await run('true')).text).toBe('exit code 0, no output')
  })

  it('starts afresh in the current directory each time', async () => {
    await mkdir(join(bench.project, 'sub'))
    await run('cd sub; export X=1; touch made')
    expect((await run('pwd; echo "[$X]"')).text).toBe(`exit code 0\n${bench.project}\n[]\n`)
  })

  it('gives the command no secret of the environment and no input', async () => {
    const answer = await run('env; cat; echo end')
    expect(answer.text).not.toContain('SECRET_API_KEY')
    expect(answer.text).toContain('LANG=C.UTF-8')
    expect(answer.text).toMatch(/end\n$/)
  })

  it('shows Chinese names and text, and survives bytes that are not text', async () => {
    await writeFile(join(bench.project, '说明 文件.txt'), '你好\n')
    const answer = await run(`ls; cat 说明*; printf '\\xff\\xfe\\033[31mred\\033[0m\\n'`)
    expect(answer.text).toBe('exit code 0\n说明 文件.txt\n你好\n\ufffd\ufffdred\n')
  })

  it('shows output while the command runs', async () => {
    const seen: string[] = []
    const stop = bench.session.watch(bench.root, (update) => {
      if (update.kind === 'delta') seen.push(update.delta.text)
    })
    const pending = run('echo early; until [ -e go ]; do sleep 0.01; done; echo late')
    while (!seen.join('').includes('early')) await sleep(10)
    expect(seen.join('')).toBe('early\n')
    await writeFile(join(bench.project, 'go'), '')
    expect((await pending).text).toBe('exit code 0\nearly\nlate\n')
    stop()
  })

  it('keeps what was printed before a timeout', async () => {
    const answer = await run('echo before; sleep 30; echo after', { timeout_ms: 200 })
    expect(answer.isError).toBe(true)
    expect(answer.text).toMatch(/^timed out after 0\.\d s and was ended.*\nbefore\n$/)
  })

  it('keeps what was printed before an abort', async () => {
    const abort = new AbortController()
    const pending = run('echo $$ > pid; echo before; sleep 30', {}, abort.signal)
    await readPid('pid')
    await sleep(50)
    abort.abort()
    const answer = await pending
    expect(answer.isError).toBe(true)
    expect(answer.text).toContain('before')
  })

  it('ends every process of the command, those in another session too', async () => {
    const command =
      'setsid sh -c "echo \\$\\$ > far; exec sleep 60" & sleep 60 & echo $! > near; ' +
      'until [ -s far ]; do sleep 0.01; done; sleep 60'
    const pending = run(command, { timeout_ms: 400 })
    const pids = [await readPid('near'), await readPid('far')]
    expect(await Promise.all(pids.map(isAlive))).toEqual([true, true])
    await pending
    expect(await Promise.all(pids.map(isAlive))).toEqual([false, false])
  })

  it('does not wait for a child in the background', async () => {
    const answer = await run('sleep 300 & echo done')
    expect(answer.text).toBe('exit code 0\ndone\n')
  })

  it('is denied in read-only, before anything runs', async () => {
    await bench[Symbol.asyncDispose]()
    bench = await openToolBench({ rows: { bash }, mode: 'read-only' })
    const answer = await run('touch made')
    expect(answer.code).toBe('TOOL_DENIED')
    await expect(readFile(join(bench.project, 'made'))).rejects.toThrow('ENOENT')
  })
})
