import { LiveSession, systemClock } from '@cordage/core/store'
import { createJsonlStore, nodeIo } from '../../packages/stores/jsonl/src/index.ts'
import { longId } from './long-log.ts'
import { optionsFor } from './many-sessions.ts'

/** In a process of its own: opens the long session as its owner, and says what that took. */
const [directory = ''] = process.argv.slice(2)
const store = createJsonlStore({ ...optionsFor(directory), io: nodeIo })
const options = { clock: systemClock, lookup: () => undefined }

// Code and libraries are there already where a session is opened.
const header = {
  format: 1,
  id: `warm-${process.pid}`,
  createdAt: 1,
  project: '/p',
  depth: 0,
} as const
await (await LiveSession.open(await store.create(header), options)).close()
await (await LiveSession.open(await store.open(header.id, { mode: 'write' }), options)).close()
await store.delete(header.id)

const before = process.memoryUsage().rss
const begin = performance.now()
const cpu = process.cpuUsage()
const log = await store.open(longId, { mode: 'write' })
const session = await LiveSession.open(log, options)
const surface = session.surface.length
const ms = performance.now() - begin
const { user, system } = process.cpuUsage(cpu)
const mb = (process.memoryUsage().rss - before) / 2 ** 20
const facts = session.nextSeq
await session.close()
await store.close()
const snapshotMb = JSON.stringify(log.snapshot ?? null).length / 2 ** 20
console.log(JSON.stringify({ ms, snapshotMb, cpuMs: (user + system) / 1000, mb, facts, surface }))
