import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { definePlugin, own } from '@cordage/core/kernel'
import { turnEnd, turnStart, type Fact, type NewFact, type Session } from '@cordage/core/session'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { bench, type Bench } from '../../../core/test/loop/boot.ts'
import environment from '../../../environments/local/src/index.ts'
import { createJsonlStore } from '../../../stores/jsonl/src/index.ts'
import { hastyIo } from '../../../stores/jsonl/test/fixtures.ts'
import { checkpointFile } from '../src/events.ts'
import { hashOf } from '../src/file-state.ts'
import checkpoint from '../src/index.ts'

const FILES = 400
const FACTS = 30_000

/** A power cut is not what this is about: nothing waits for the disk. */
function storeIn(directory: string) {
  const options = { directory, segmentMaxBytes: 4 * 1024 * 1024, compression: 'zstd' } as const
  const store = createJsonlStore({ ...options, io: hastyIo })
  return definePlugin({
    name: 'store',
    provides: ['store'],
    apply: (ctx) => own(ctx, 'store', store, () => store.close()),
  })
}

let base: string
let made: Bench
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'cordage-large-')))
  made = await bench([], {
    store: { plugin: storeIn(join(base, 'sessions')) },
    rows: [environment, checkpoint].map((plugin) => ({ plugin })),
    session: (root) => root.sessions.create({ project: join(base, 'project'), depth: 0 }),
  })
})
afterEach(async () => {
  await made.close()
  await rm(base, { recursive: true, force: true })
})

const pathOf = (file: number) => join(base, 'project', `f${file}`)
const textOf = (file: number, turn: number) => Buffer.from(`file ${file} of turn ${turn}`)

/** What a turn logs that writes every file, after the one before it. */
async function writeAll(session: Session, turn: number): Promise<void> {
  const facts: NewFact[] = [turnStart({ turn })]
  for (let file = 0; file < FILES; file += 1) {
    const bytes = textOf(file, turn)
    const old = turn === 1 ? undefined : await session.putBlob(textOf(file, turn - 1))
    const before = old === undefined ? null : { hash: old, mode: 0o644 }
    const place = { turn, path: pathOf(file), callId: `c${turn}-${file}` }
    facts.push(checkpointFile({ ...place, by: 'call', before, after: hashOf(bytes) }))
    await writeFile(pathOf(file), bytes, { mode: 0o644 })
  }
  await session.append([...facts, turnEnd({ turn, reason: 'completed' })])
}

async function factsOf(session: Session): Promise<Fact[]> {
  const facts: Fact[] = []
  for await (const fact of session.read()) facts.push(fact)
  return facts
}

async function isTurn(turn: number): Promise<boolean> {
  const files = await readdir(join(base, 'project'))
  const texts = await Promise.all(files.map((name) => readFile(join(base, 'project', name))))
  const wanted = files.map((name) => textOf(Number(name.slice(1)), turn))
  return files.length === FILES && texts.every((text, index) => text.equals(wanted[index] ?? text))
}

it('a rewind of 400 files and 30,000 facts outlives packing, salvage, forks and their parents', async () => {
  const { session, root } = made
  const { sessions, store, checkpoints } = root
  await mkdir(join(base, 'project'))
  await writeAll(session, 1)
  await writeAll(session, 2)
  for (let turn = 3; session.nextSeq < FACTS; turn += 500) {
    const turns = Array.from({ length: 500 }, (_, index) => turn + index)
    await session.append(
      turns.flatMap((one) => [
        turnStart({ turn: one }),
        turnEnd({ turn: one, reason: 'completed' }),
      ]),
    )
  }
  const plans = await checkpoints.restore(session, { turn: 2 })
  expect(plans.filter(({ state }) => state === 'ready')).toHaveLength(FILES)
  expect(await isTurn(1)).toBe(true)
  const { id } = session
  const whole = await factsOf(session)
  await session.close()

  await store.upkeep?.pack(id)
  const fork = await sessions.fork(id)
  await fork.close()
  const forked = await sessions.fork(fork.id)
  await forked.close()
  const salvaged = await sessions.salvage(id, { project: base })
  expect(salvaged).toMatchObject({ facts: whole.length, missing: [], lostBlobs: [] })
  for (const parent of [id, fork.id]) await store.delete(parent)
  const collected = await store.upkeep?.collect({ blobs: true })
  expect(collected).toMatchObject({ sessions: [], blobs: 0, refused: [] })

  for (const last of [forked.id, salvaged.id]) {
    const again = await sessions.open(last)
    expect((await factsOf(again)).slice(0, whole.length)).toEqual(whole)
    await again.close()
  }
  const again = await sessions.open(forked.id)
  expect(await checkpoints.restore(again, 'undo')).toHaveLength(FILES)
  expect(await isTurn(2)).toBe(true)
  await again.close()
}, 120_000)
