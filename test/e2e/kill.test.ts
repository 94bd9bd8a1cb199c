import { availableParallelism } from 'node:os'
import { textOf, toolCallsOf } from '@cordage/core/message'
import {
  assistantMessage,
  inboxSplice,
  toolCall,
  toolResult,
  turnEnd,
  userMessage,
  type Fact,
} from '@cordage/core/session'
import { beforeAll, describe, expect, it } from 'vitest'
import { jsonLines } from './fixture/cli.ts'
import {
  killAndRecover,
  killAndResume,
  task,
  undisturbedRun,
  type Killed,
  type Moment,
  type Resumed,
} from './fixture/kill.ts'
import { seededRandom } from '../../packages/kit/testkit/src/simulation/random.ts'

const KILLS = Number(process.env['CORDAGE_KILLS'] ?? 200)
const RESUMES = 10
/** Enough for a fair share of the machine beside the files that run at the same time. */
const AT_ONCE = 3 * availableParallelism()
const seed = Number(process.env['CORDAGE_KILL_SEED'] ?? 20261130)

const killed: Killed[] = []
const resumed: Resumed[] = []
const everyone = (): Killed[] => [...killed, ...resumed]

/** One moment in each of so many equal parts of the log's growth. */
function drawMoments(bytes: number, count: number): Moment[] {
  const random = seededRandom(seed)
  return Array.from({ length: count }, (_, kill) => ({
    kill,
    bytes: 1 + Math.floor(((kill + random()) / count) * (bytes - 1)),
    delayMs: Math.floor(random() ** 3 * 60),
  }))
}

async function several(work: (() => Promise<void>)[]): Promise<void> {
  const worker = async () => {
    for (let next = work.shift(); next; next = work.shift()) await next()
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

/** On two cores; this is the whole of the shard but for looking at what was left. */
const SHARD_MS = 240_000

beforeAll(async () => {
  const [quick, sample] = [await undisturbedRun('quick'), await undisturbedRun('sample')]
  expect([quick.ended.code, sample.ended.code], quick.ended.stderr).toEqual([0, 0])
  await several([
    ...drawMoments(quick.bytes, KILLS - RESUMES).map((moment) => async () => {
      killed.push(await killAndRecover(moment))
    }),
    ...drawMoments(sample.bytes, RESUMES).map((moment) => async () => {
      resumed.push(await killAndResume(moment))
    }),
  ])
  console.log(
    `${KILLS} kills, seed ${seed} (CORDAGE_KILL_SEED); a whole run:` +
      ` ${quick.bytes} bytes, ${quick.facts.length} facts\n${histogram()}`,
  )
}, SHARD_MS)

/** How many runs had what as the last fact that was on the disk. */
function histogram(): string {
  const counts = new Map<string, number>()
  for (const { atKill } of everyone()) {
    const last = atKill.at(-1)?.type ?? 'nothing'
    counts.set(last, (counts.get(last) ?? 0) + 1)
  }
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(
      ([type, count]) => `${type.padStart(20)} ${String(count).padStart(3)} ${'#'.repeat(count)}`,
    )
    .join('\n')
}

describe(`kill -9 of ${KILLS} runs, drawn over the growth of their logs`, () => {
  it('meets at least three in four between their first and their last fact', () => {
    const within = everyone().filter(({ atKill }) => {
      return atKill.length > 0 && !turnEnd.is(atKill.at(-1) as Fact)
    })
    expect(everyone()).toHaveLength(KILLS)
    expect(within.length).toBeGreaterThanOrEqual(KILLS * 0.75)
  })

  it('leaves the lease free and every fact that was on the disk', () => {
    for (const { recovered, atKill, moment } of killed) {
      // A write of several pages may be cut between two of them.
      const told = recovered?.notices.join() ?? ''
      expect(told, `kill ${moment.kill}`).toMatch(/^$|are no part of the session/)
      expect(recovered?.facts.slice(0, atKill.length) ?? []).toEqual(atKill)
    }
  })

  it('leaves nothing that a second repair would add to', () => {
    for (const { recovered } of killed) expect(recovered?.again).toEqual(recovered?.facts)
  })

  it('had written what it told and acted upon', () => {
    for (const one of everyone()) checkOrder(one)
  })

  it('has exactly one result for each call, with the right code', () => {
    for (const { atKill, recovered } of killed) checkResults(atKill, recovered?.facts ?? [])
    for (const { atKill, final } of resumed) checkResults(atKill, final)
  })

  it('has the prompt exactly once, waiting or said', () => {
    for (const { atKill, recovered } of killed) {
      if (!atKill.some(inboxSplice.is)) continue
      const said = recovered?.facts.filter(userMessage.is) ?? []
      const texts = said.filter(({ data }) => textOf(data.message) === task)
      expect(texts.length + (recovered?.inbox.length ?? 0)).toBe(1)
    }
  })
})

describe(`${RESUMES} of them, resumed by the command line`, () => {
  it('go on and end right', () => {
    expect(resumed).toHaveLength(RESUMES)
    for (const { atKill, resumed: run, final, tests } of resumed) {
      if (atKill.some(turnEnd.is)) {
        // Nothing was left to do, and it says so.
        expect(run.code, run.stderr).toBe(2)
      } else {
        expect(run.code, run.stderr).toBe(0)
        const last = jsonLines(run.stdout).at(-1)
        expect(last).toMatchObject({ type: 'result', reason: 'completed' })
      }
      expect(final.findLast(turnEnd.is)?.data).toMatchObject({ reason: 'completed' })
      expect(tests).toMatchObject({ passed: true })
    }
  })

  it('keep every fact that was on the disk', () => {
    for (const { atKill, final } of resumed) {
      expect(final.slice(0, atKill.length)).toEqual(atKill)
      expect(final.map(({ seq }) => seq)).toEqual(final.map((_, index) => index))
    }
  })
})

/** Whatever a request or a body was started on was in the log before. */
function checkOrder({ atKill, printed }: Killed): void {
  const told = printed.filter(({ seq }) => typeof seq === 'number')
  expect(told).toEqual(told.map(({ seq }) => atKill[Number(seq)]))

  const dispatched = new Set(atKill.filter(toolCall.is).map(({ data }) => data.callId))
  const bodies = printed.filter(({ type }) => type === toolResult.type)
  const ran = bodies.map(({ data }) => (data as { callId: string }).callId)
  expect(ran.filter((id) => !dispatched.has(id))).toEqual([])
  if (printed.at(-1)?.['type'] === 'result') expect(turnEnd.is(atKill.at(-1) as Fact)).toBe(true)
}

function checkResults(atKill: readonly Fact[], facts: readonly Fact[]): void {
  const results = facts.filter(toolResult.is)
  expect(results.map(({ data }) => data.callId).sort()).toEqual(callIds(facts).sort())
  const answered = new Set(atKill.filter(toolResult.is).map(({ data }) => data.callId))
  const dispatched = new Set(atKill.filter(toolCall.is).map(({ data }) => data.callId))
  const open = callIds(atKill).filter((id) => !answered.has(id))
  const codes = new Map(results.map(({ data }) => [data.callId, data.error?.code]))
  const wanted = (id: string) => (dispatched.has(id) ? 'TOOL_OUTCOME_UNKNOWN' : 'TOOL_NOT_STARTED')
  expect(open.map((id) => [id, codes.get(id)])).toEqual(open.map((id) => [id, wanted(id)]))
  const late = results.filter(({ data }) => /^TOOL_(OUTCOME|NOT)/.test(data.error?.code ?? ''))
  expect(late.map(({ data }) => data.callId).sort()).toEqual(open.sort())
}

function callIds(facts: readonly Fact[]): string[] {
  return facts.filter(assistantMessage.is).flatMap(({ data }) => {
    return toolCallsOf(data.message).map(({ id }) => id)
  })
}
