import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { openBench } from './bench.ts'
import { makeTool } from './make-tool.ts'

it('a batch of everything that can go wrong has one result each, in the order of the model', async () => {
  const stop = new AbortController()
  const ended: string[] = []
  const tools = [
    makeTool('last', async () => {
      while (ended.length < 2) await sleep(1)
      return 'last'
    }),
    makeTool('large', async () => {
      ended.push('large')
      return 'x'.repeat(200 * 1024 * 1024)
    }),
    makeTool('odd', async () => {
      ended.push('odd')
      return { amount: 1n }
    }),
    makeTool('throws', () => {
      throw new TypeError('at once')
    }),
    makeTool('alone', async () => 'alone', { concurrent: () => false }),
    makeTool('never', () => {
      stop.abort('enough')
      return new Promise(() => {})
    }),
  ]
  await using bench = await openBench({ tools })
  const names = ['last', 'large', 'odd', 'throws', 'alone', 'never']
  const answers = await bench.run(
    names.map((name) => [name, {}] as const),
    { signal: stop.signal },
  )
  expect(answers.map(({ name }) => name)).toEqual(names)
  expect(answers.map(({ code }) => code)).toEqual([
    undefined,
    undefined,
    'INVALID_TOOL_OUTPUT',
    'TOOL_FAILED',
    undefined,
    'TOOL_OUTCOME_UNKNOWN',
  ])
  expect(answers[1]?.data['truncated']).toMatchObject({ chars: 200 * 1024 * 1024 })
  expect(answers[1]?.text.length).toBeLessThan(31_000)
})
