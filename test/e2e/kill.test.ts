import { textOf } from '@cordage/core/message'
import {
  assistantMessage,
  toolCall,
  toolResult,
  turnEnd,
  userMessage,
  type Fact,
} from '@cordage/core/session'
import { beforeAll, describe, expect, it } from 'vitest'
import { jsonLines } from './fixture/cli.ts'
import { killAndResume, task, undisturbedRun, type Killed, type Moment } from './fixture/kill.ts'
import { seeded } from './fixture/random.ts'

const KILLS = 20
const AT_ONCE = 3
const seed = Number(process.env['CORDAGE_KILL_SEED'] ?? 20261130)
const kills = Array.from({ length: KILLS }, (_, kill) => kill)

const results = new Map<number, Killed>()
const result = (kill: number): Killed => results.get(kill) as Killed

/** One moment in each of twenty equal parts of the log's growth. */
function drawMoments(bytes: number): Moment[] {
  const random = seeded(seed)
  return kills.map((kill) => ({
    kill,
    bytes: 1 + Math.floor(((kill + random()) / KILLS) * (bytes - 1)),
    delayMs: Math.floor(random() ** 2 * 120),
  }))
}

beforeAll(async () => {
  const whole = await undisturbedRun()
  expect(whole.ended.code).toBe(0)
  const queue = drawMoments(whole.bytes)
  const worker = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      results.set(next.kill, await killAndResume(next))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  print(whole.bytes, whole.facts.length)
}, 400_000)

function print(bytes: number, facts: number): void {
  const lines = kills.map((kill) => {
    const { moment, atKill, killedBy } = result(kill)
    const last = atKill.at(-1)?.type ?? 'nothing'
    const bar = '#'.repeat(Math.round((atKill.length / facts) * 40))
    return `${String(moment.bytes).padStart(6)} B +${String(moment.delayMs).padStart(3)} ms ${killedBy ?? 'ended'} after ${String(atKill.length).padStart(2)} facts ${bar} ${last}`
  })
  console.log(`seed ${seed}; a whole run: ${bytes} bytes, ${facts} facts\n${lines.join('\n')}`)
}

describe('kill -9 of the sample task, drawn over the growth of its log', () => {
  it('meets at least 15 of 20 runs between their first and their last fact', () => {
    const within = kills.map(result).filter(({ atKill }) => {
      return atKill.length > 0 && !turnEnd.is(atKill.at(-1) as Fact)
    })
    expect(within.length).toBeGreaterThanOrEqual(15)
  })

  it.each(kills)('goes on after kill %i and ends right', (kill) => {
    const { resumed, final, tests, atKill } = result(kill)
    if (atKill.some((fact) => turnEnd.is(fact))) {
      // Nothing was left to do, and it says so.
      expect(resumed.code, resumed.stderr).toBe(2)
    } else {
      expect(resumed.code, resumed.stderr).toBe(0)
      const last = jsonLines(resumed.stdout).at(-1)
      expect(last).toMatchObject({ type: 'result', reason: 'completed' })
    }
    expect(final.filter((fact) => turnEnd.is(fact)).at(-1)?.data).toMatchObject({
      reason: 'completed',
    })
    expect(tests).toMatchObject({ passed: true })
  })

  it.each(kills)('keeps every fact that was on the disk at kill %i', (kill) => {
    const { atKill, final } = result(kill)
    expect(final.slice(0, atKill.length)).toEqual(atKill)
    expect(final.map(({ seq }) => seq)).toEqual(final.map((_, index) => index))
  })

  it.each(kills)('had written before kill %i what it acted upon', (kill) => {
    const { atKill, printed } = result(kill)
    const written = new Set(atKill.map(({ seq }) => seq))
    const requested = printed.findLast(({ type }) => type === 'attempt/start')
    const before = typeof requested?.['seq'] === 'number' ? requested['seq'] : 0
    const missing = Array.from({ length: before }, (_, seq) => seq)
    expect(missing.filter((seq) => !written.has(seq))).toEqual([])

    const dispatched = new Set(atKill.filter(toolCall.is).map(({ data }) => data.callId))
    const bodies = printed.filter(({ type }) => type === toolResult.type)
    const ran = bodies.map(({ data }) => (data as { callId: string }).callId)
    expect(ran.filter((id) => !dispatched.has(id))).toEqual([])
    if (printed.at(-1)?.['type'] === 'result') expect(turnEnd.is(atKill.at(-1) as Fact)).toBe(true)
  })

  it.each(kills)('gives every call of kill %i exactly one result, with the right code', (kill) => {
    const { atKill, final } = result(kill)
    const asked = callIds(final)
    const results = final.filter(toolResult.is)
    expect(results.map(({ data }) => data.callId).sort()).toEqual(asked.sort())

    const answered = new Set(atKill.filter(toolResult.is).map(({ data }) => data.callId))
    const dispatched = new Set(atKill.filter(toolCall.is).map(({ data }) => data.callId))
    const open = callIds(atKill).filter((id) => !answered.has(id))
    const wanted = open.map((id) => [
      id,
      dispatched.has(id) ? 'TOOL_OUTCOME_UNKNOWN' : 'TOOL_NOT_STARTED',
    ])
    const codes = new Map(results.map(({ data }) => [data.callId, data.error?.code]))
    expect(open.map((id) => [id, codes.get(id)])).toEqual(wanted)
    const late = results.filter(({ data }) => /^TOOL_(OUTCOME|NOT)/.test(data.error?.code ?? ''))
    expect(late.map(({ data }) => data.callId).sort()).toEqual(open.sort())
  })

  it.each(kills)('has the prompt of kill %i exactly once', (kill) => {
    const texts = result(kill)
      .final.filter(userMessage.is)
      .map(({ data }) => textOf(data.message))
    expect(texts.filter((text) => text === task)).toHaveLength(1)
  })
})

function callIds(facts: readonly Fact[]): string[] {
  return facts.filter(assistantMessage.is).flatMap(({ data }) => {
    return data.message.content.flatMap((part) => (part.type === 'tool-call' ? [part.id] : []))
  })
}
