import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { changeFile } from '../../src/tool/index.ts'
import { openBench, type Bench } from './bench.ts'
import { writeTool } from './make-tool.ts'

let bench: Bench
beforeEach(async () => {
  bench = await openBench({ tools: [writeTool] })
  await writeFile(join(bench.project, 'a.txt'), 'old')
})
afterEach(() => bench[Symbol.asyncDispose]())

const put = (signal = new AbortController().signal) =>
  bench.call('put', { path: join(bench.project, 'a.txt'), text: 'new' }, { signal })
const text = () => readFile(join(bench.project, 'a.txt'), 'utf8')

it('a hook around a change sees what is there and what will be', async () => {
  const seen: unknown[] = []
  changeFile.use(bench.root, async ({ path, bytes, file, turn }, next) => {
    const there = Buffer.from((await file.read()).bytes).toString()
    seen.push([path, turn, there, Buffer.from(bytes ?? []).toString()])
    await next()
    seen.push(await text())
  })
  const answer = await put()
  expect(answer.isError).toBe(false)
  expect(seen).toEqual([[join(bench.project, 'a.txt'), 1, 'old', 'new'], 'new'])
})

it('a hook that does not go on, or fails, keeps the file as it is', async () => {
  const stop = changeFile.use(bench.root, async () => {})
  expect(await put()).toMatchObject({ code: 'TOOL_DENIED' })
  stop()
  changeFile.use(bench.root, async () => {
    throw new Error('no room')
  })
  expect(await put()).toMatchObject({ code: 'TOOL_FAILED' })
  expect(await text()).toBe('old')
})

it('a change whose call has ended meanwhile is not made', async () => {
  const cancel = new AbortController()
  let late: Promise<void> | undefined
  changeFile.use(bench.root, (_, next) => {
    cancel.abort('stop')
    late = new Promise((resolve) => setTimeout(() => resolve(next()), 300))
    return late
  })
  const answer = await put(cancel.signal)
  expect(answer.code).toBe('TOOL_OUTCOME_UNKNOWN')
  await expect(late).rejects.toThrow('the call has ended')
  expect(await text()).toBe('old')
})
