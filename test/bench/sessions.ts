import type { Session } from '@cordage/core/session'
import { boot, type Harness } from 'cordage'
import { cleanEnv } from '../e2e/fixture/cli.ts'
import { makePlace, type Place } from '../e2e/fixture/place.ts'
import { exchange, makeSession } from './history.ts'
import type { Row } from './row.ts'

const APPENDS = 200
const FACTS = 10_000
const OPENS = 10

/** One process: what an append and an open cost the harness itself. */
export async function measureSessions(): Promise<Row[]> {
  await using place = await makePlace('empty')
  const { home, project } = place
  const env = cleanEnv(place)
  const harness = await boot({ profile: 'headless', home, env, cwd: project })
  try {
    return [
      await appends(harness, place, true),
      await appends(harness, place, false),
      ...(await opensAndForks(harness, place)),
    ]
  } finally {
    await harness.close()
  }
}

async function appends(harness: Harness, place: Place, sync: boolean): Promise<Row> {
  const session = await makeSession(harness, place, 0)
  const samples: number[] = []
  for (let at = 0; at < APPENDS; at += 1) {
    const [fact] = exchange(at)
    const begin = performance.now()
    await session.append(fact ? [fact] : [], { sync })
    samples.push((performance.now() - begin) * 1000)
  }
  await session.close()
  const name = sync ? 'append, on the disk' : 'append, written'
  return { name, unit: 'us', samples }
}

async function opensAndForks(harness: Harness, place: Place): Promise<Row[]> {
  const { sessions } = harness.ctx
  const session = await makeSession(harness, place, FACTS)
  await session.close()
  const opens = await timed(() => sessions.open(session.id))
  const forks = await timed(() => sessions.fork(session.id))
  return [
    { name: `open a session of ${FACTS} facts`, unit: 'ms', samples: opens },
    { name: `fork a session of ${FACTS} facts`, unit: 'ms', samples: forks },
  ]
}

/** Milliseconds that it takes to have a session that is whole. */
async function timed(take: () => Promise<Session>): Promise<number[]> {
  const samples: number[] = []
  for (let at = 0; at < OPENS; at += 1) {
    const begin = performance.now()
    const session = await take()
    samples.push(performance.now() - begin)
    if (session.surface.length !== FACTS) throw new Error('the session is not whole')
    await session.close()
  }
  return samples
}
