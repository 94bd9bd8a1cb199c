import { modelError, type modelErrors, normaliseHttp, normaliseThrown } from '@cordage/core/model'
import { retryWishes, statuses } from '../../../kit/testkit/src/model-statuses.ts'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import retry from '../src/index.ts'
import { bench, say, type Bench, type Reply } from '../../../core/test/loop/boot.ts'

const route = { model: 'test/model', url: 'http://hub/v1/x' }

/** The time of the clock that is given to these tests: no time goes by unless they say so. */
function clock(): number {
  return vi.getMockedSystemTime()?.getTime() ?? Number.NaN
}

/** Refuses as a server would, and keeps the time at which it was asked. */
function refusing(status: number, headers: Readonly<Record<string, string>>, times: number[]) {
  const header = (name: string) => headers[name]
  return async function* () {
    times.push(clock())
    throw normaliseHttp(route, { status, body: '', header })
  } satisfies Reply
}

function answering(times: number[]): Reply {
  return async function* () {
    times.push(clock())
    yield* say('ok')
  }
}

/** Lets the clock go from one timer to the next until `work` is over. */
async function settle<T>(work: Promise<T>): Promise<T> {
  const state = { over: false }
  const ending = work.finally(() => (state.over = true))
  while (!state.over) await vi.advanceTimersToNextTimerAsync()
  return ending
}

describe('waiting for a server', () => {
  let made: Bench
  const replies: Reply[] = []
  beforeEach(async () => {
    made = await bench(replies, { rows: [{ plugin: retry }] })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  })
  afterEach(async () => {
    vi.useRealTimers()
    replies.length = 0
    await made.close()
  })

  const fails = (code: keyof typeof modelErrors): Reply =>
    async function* () {
      throw modelError(code, { model: 'test/model' })
    }

  const turn = async () => {
    await settle(made.agent.send('go', { wake: false }))
    return settle(made.agent.wake())
  }

  it.each(statuses)('takes status $status as $code, and what it asks for', async (row) => {
    const { status, code, retried } = row
    for (const { name, headers, waitMs } of retryWishes) {
      const times: number[] = []
      replies.push(refusing(status, headers, times), ...(retried ? [answering(times)] : []))
      const outcome = await turn()
      const place = `${status} ${name}`
      if (!retried) {
        expect(outcome, place).toMatchObject({ reason: 'error', error: { code } })
        expect(times, place).toHaveLength(1)
        continue
      }
      expect(outcome, place).toMatchObject({ reason: 'completed' })
      const [first = 0, second = 0] = times
      if (waitMs === undefined) {
        expect(second - first, place).toBeGreaterThanOrEqual(450)
        expect(second - first, place).toBeLessThanOrEqual(550)
      } else {
        expect(second - first, place).toBe(waitMs)
      }
    }
  })

  it('says so for as long as it waits, and ends at once when it is cancelled', async () => {
    const times: number[] = []
    replies.push(refusing(429, { 'retry-after': '7200' }, times))
    await settle(made.agent.send('go', { wake: false }))
    const outcome = made.agent.wake()
    const startedAt = clock()
    const waiting = () => {
      const { status } = made.agent
      return status.kind === 'running' ? status.waiting : undefined
    }
    while (!waiting()?.startsWith('retry')) await vi.advanceTimersByTimeAsync(0)
    expect(waiting()).toBe('retry in 7200 s')
    await made.agent.cancel('enough')
    expect(await outcome).toMatchObject({ reason: 'aborted' })
    expect(clock()).toBe(startedAt)
  })

  it('asks again after an empty answer, and as often once the loop has asked for one', async () => {
    replies.push(...Array.from({ length: 12 }, () => fails('EMPTY_RESPONSE')))
    expect(await turn()).toMatchObject({ reason: 'error' })
    expect(made.requests).toHaveLength(12)
  })

  it('waits for no server beyond the deadline of the turn', async () => {
    await made.close()
    vi.useRealTimers()
    const deadline = Date.now() + 3_600_000
    made = await bench(replies, { rows: [{ plugin: retry }], limits: { deadline } })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    const times: number[] = []
    replies.push(refusing(429, { 'retry-after': '3000' }, times), answering(times))
    expect(await turn()).toMatchObject({ reason: 'completed' })
    replies.push(refusing(429, { 'retry-after': '3700' }, times))
    expect(await turn()).toMatchObject({ reason: 'error', error: { code: 'RATE_LIMIT' } })
  })

  it('asks no second time where only a person can mend what failed', async () => {
    replies.push(async function* () {
      const cause = Object.assign(new Error(), { code: 'CERT_HAS_EXPIRED' })
      throw normaliseThrown(route, new TypeError('fetch failed', { cause }), false)
    })
    expect(await turn()).toMatchObject({ reason: 'error', error: { code: 'TRANSPORT' } })
    expect(made.requests).toHaveLength(1)
  })

  it('never ends in mode always, until it is taken out', async () => {
    await made.close()
    vi.useRealTimers()
    const config = { mode: 'always', maxRetries: 0 }
    made = await bench(replies, { rows: [{ plugin: retry, config }] })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    replies.push(...Array.from({ length: 40 }, () => fails('AUTH')))
    await settle(made.agent.send('go', { wake: false }))
    const outcome = made.agent.wake()
    while (replies.length > 10) await vi.advanceTimersToNextTimerAsync()
    const told = (await made.facts()).filter(({ type }) => type === 'attempt/failed')
    expect(told.length).toBeGreaterThanOrEqual(29)
    await made.close()
    expect(await outcome).toMatchObject({ reason: 'aborted' })
    expect(replies.length).toBeGreaterThan(0)
  })

  it.each([
    ...['RATE_LIMIT', 'SERVER', 'TIMEOUT', 'TRANSPORT', 'STREAM_CLOSED'].map(
      (code) => [code, 6] as const,
    ),
    ...[
      'AUTH',
      'QUOTA',
      'MALFORMED_RESPONSE',
      'INVALID_REQUEST',
      'CONTEXT_WINDOW_EXCEEDED',
      'CONTENT_FILTERED',
      'UNKNOWN_MODEL',
      'UNSUPPORTED_REASONING_EFFORT',
      'CANCELLED',
    ].map((code) => [code, 1] as const),
  ])('asks again after %s, so that it is asked %i times in all', async (code, times) => {
    const known = code as keyof typeof modelErrors
    replies.push(...Array.from({ length: 6 }, () => fails(known)))
    const before = made.requests.length
    const startedAt = clock()
    expect(await turn()).toMatchObject({ error: { code } })
    expect(made.requests.length - before).toBe(times)
    // 0.5 + 1 + 2 + 4 + 8 seconds, a tenth more or less.
    const waited = clock() - startedAt
    expect(waited).toBeLessThanOrEqual(times === 6 ? 17_050 : 0)
    expect(waited).toBeGreaterThanOrEqual(times === 6 ? 13_950 : 0)
  })
})
