import { afterEach, describe, expect, it } from 'vitest'
import { modelError } from '@cordage/core/model'
import retry from '../src/index.ts'
import { bench, say, type Bench, type Reply } from '../../../core/test/loop/boot.ts'

const open: Bench[] = []
afterEach(async () => {
  for (const made of open.splice(0)) await made.close()
})

const failing = (code: Parameters<typeof modelError>[0], retryAfterMs?: number): Reply =>
  async function* () {
    const details = retryAfterMs === undefined ? {} : { retryAfterMs }
    throw modelError(code, { model: 'test/model' }, { details })
  }

async function run(replies: Reply[], config: Record<string, unknown>) {
  const made = await bench(replies, {
    rows: [{ plugin: retry, config: { initialDelayMs: 1, maxDelayMs: 4, ...config } }],
  })
  open.push(made)
  await made.agent.send('go', { wake: false })
  const outcome = await made.agent.wake()
  const failures = (await made.facts())
    .filter((fact) => fact.type === 'attempt/failed')
    .map((fact) => fact.data as { retryInMs?: number })
  return { outcome, failures, made }
}

describe('policy-retry', () => {
  it('tries what may pass again, up to maxRetries extra times', async () => {
    const { outcome, failures } = await run(
      [failing('SERVER'), failing('RATE_LIMIT'), failing('TRANSPORT'), say('never reached')],
      { maxRetries: 2 },
    )
    expect(outcome).toMatchObject({ reason: 'error', error: { code: 'TRANSPORT' } })
    expect(failures.map(({ retryInMs }) => retryInMs !== undefined)).toEqual([true, true, false])
  })

  it('gives up at once on what will not pass', async () => {
    const { outcome, failures } = await run([failing('AUTH'), say('never reached')], {})
    expect(outcome).toMatchObject({ reason: 'error', error: { code: 'AUTH' } })
    expect(failures).toHaveLength(1)
  })

  it('waits as long as the server asks, beyond its own cap', async () => {
    const { outcome, failures } = await run([failing('RATE_LIMIT', 120), say('ok')], {})
    expect(outcome).toMatchObject({ reason: 'completed' })
    expect(failures).toMatchObject([{ retryInMs: 120 }])
  })

  it('backs off within its cap', async () => {
    const replies = [...Array.from({ length: 5 }, () => failing('SERVER')), say('ok')]
    const { failures } = await run(replies, { initialDelayMs: 10, maxDelayMs: 30 })
    const delays = failures.map(({ retryInMs }) => retryInMs ?? 0)
    expect(delays[0]).toBeLessThanOrEqual(11)
    expect(delays[1]).toBeGreaterThanOrEqual(18)
    expect(Math.max(...delays)).toBeLessThanOrEqual(33)
  })

  it('in mode always retries any code until success', async () => {
    const { outcome } = await run([failing('AUTH'), failing('INVALID_REQUEST'), say('ok')], {
      mode: 'always',
      maxRetries: 0,
    })
    expect(outcome).toMatchObject({ reason: 'completed' })
  })
})
