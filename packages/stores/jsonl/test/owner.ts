// A process of its own: opens a session, says so, and appends one fact a line of input, or without
// end (`flood`). Arguments: root, id, mode.
import { createInterface } from 'node:readline'
import { nodeIo } from '../src/node-io.ts'
import { createJsonlStore } from '../src/store.ts'

const [directory = '', id = '', mode = 'lines'] = process.argv.slice(2)
const store = createJsonlStore({
  directory,
  segmentMaxBytes: 20_000,
  compression: 'zstd',
  io: nodeIo,
})
const say = (word: string) => process.stdout.write(`${word}\n`)
const log = await store.open(id, { mode: 'write' })
let next = (log.snapshot?.seq ?? 0) + log.tail.length
say('open')

async function add(): Promise<void> {
  // The same as `factAt` of the testkit, which would load the test runner here.
  const data = { text: `fact ${next}` }
  const snapshot = log.wantsSnapshot ? { snapshot: { seq: next, state: { next } } } : {}
  try {
    await log.append(
      [{ seq: next, time: 1_700_000_000_000 + next, type: 'test/fact', v: 1, data }],
      { sync: true, ...snapshot },
    )
    next += 1
    say(`acknowledged ${next}`)
  } catch (error) {
    say((error as { code?: string }).code ?? String(error))
  }
}

if (mode === 'flood') for (;;) await add()
for await (const line of createInterface(process.stdin)) if (line === 'add') await add()
await log.close()
