import { LiveSession, systemClock } from '@cordage/core/store'
import { afterEach, expect, test } from 'vitest'
import { z } from 'zod'
import { FaultyLog, header } from '../store/faulty-log.ts'
import { bench, call, say, type Bench, type BenchOptions, type Reply } from './boot.ts'

let made: Bench | undefined
let log: FaultyLog
afterEach(async () => made?.close())

async function run(replies: Reply[], options: BenchOptions = {}): Promise<void> {
  made = await bench(replies, {
    ...options,
    async session(root) {
      log = new FaultyLog(await root.store.create(header))
      return LiveSession.open(log, { clock: systemClock, lookup: () => undefined })
    },
  })
  await made.agent.send('Begin', { wake: false })
  expect(await made.agent.wake()).toMatchObject({ reason: 'completed' })
}

/** The types of the facts that a power cut would leave now, a batch at a time. */
function onDisk(): string[][] {
  const flushed = log.batches.findLastIndex((batch) => batch.sync)
  return log.batches.slice(0, flushed + 1).map(({ facts }) => facts.map((fact) => fact.type))
}

test('each thing that may not be lost is on the disk before what follows from it', async () => {
  const seen: Record<string, string[][]> = {}
  await run(
    [
      async function* () {
        seen.request = onDisk()
        yield* call({ id: 'c1', name: 'look', arguments: '{}' })
      },
      async function* () {
        seen.next = onDisk()
        yield* say('Done.')
      },
    ],
    {
      tools: (add) =>
        add({
          name: 'look',
          description: 'Looks at the log.',
          parameters: z.strictObject({}),
          effects: () => [],
          execute: async () => {
            seen.body = onDisk()
            return {}
          },
        }),
    },
  )
  expect(seen.request?.flat().slice(-4)).toEqual([
    'user/message',
    'request/header',
    'request/context',
    'attempt/start',
  ])
  expect(seen.body?.at(-1)).toEqual(['assistant/message', 'tool/call'])
  expect(seen.next?.slice(-2)).toEqual([
    ['tool/result'],
    ['step/end', 'step/start', 'attempt/start'],
  ])
  expect(onDisk().at(-1)).toEqual(['assistant/message', 'step/end', 'turn/end'])
})
