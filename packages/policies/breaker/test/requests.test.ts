import { afterEach, describe, expect, it } from 'vitest'
import { modelError } from '@cordage/core/model'
import type { Clock } from '@cordage/core/store'
import commands from '../../../core/src/command/index.ts'
import { bench, say, type Bench, type Reply } from '../../../core/test/loop/boot.ts'
import { createBreakerPlugin } from '../src/index.ts'

const open: Bench[] = []
afterEach(async () => {
  for (const made of open.splice(0)) await made.close()
})

const failing = (code: Parameters<typeof modelError>[0]): Reply =>
  async function* () {
    throw modelError(code, { model: 'test/model' })
  }

async function start(replies: Reply[], config: Record<string, unknown> = {}) {
  let now = 1_000
  const clock: Clock = { now: () => now, after: () => () => {} }
  const plugin = createBreakerPlugin(clock)
  const rows = [
    { plugin: commands },
    { plugin, config: { maxFailures: 2, coolDownMs: 10_000, ...config } },
  ]
  const made = await bench(replies, { rows })
  open.push(made)
  const ask = async () => {
    await made.agent.send('go', { wake: false })
    const outcome = await made.agent.wake()
    return outcome?.error?.code ?? outcome?.reason
  }
  const states = async () => {
    const { agent, root } = made
    const said = await root.get('commands')?.run('/breakers', agent, new AbortController().signal)
    return said?.text
  }
  return { ...made, ask, states, wait: (ms: number) => void (now += ms) }
}

describe('policy-breaker', () => {
  it('sends nothing to a route that failed in a row, and one request after the cool-down', async () => {
    const replies = [failing('SERVER'), failing('TRANSPORT'), failing('SERVER'), say('back')]
    const { ask, states, wait, requests } = await start(replies)
    expect([await ask(), await ask(), await ask()]).toEqual(['SERVER', 'TRANSPORT', 'ROUTE_OPEN'])
    expect(await states()).toBe('test: failed 2 times in a row: left alone for another 10 s')
    expect(requests).toHaveLength(2)
    wait(10_000)
    expect([await ask(), await ask()]).toEqual(['SERVER', 'ROUTE_OPEN'])
    wait(10_000)
    expect([await ask(), await states()]).toEqual(['completed', 'test: works'])
    expect(requests).toHaveLength(4)
  })

  it('says in the log that nothing was sent, which costs nothing', async () => {
    const made = await start([failing('SERVER'), failing('SERVER')])
    for (let i = 0; i < 3; i += 1) await made.ask()
    const failures = (await made.facts()).filter(({ type }) => type === 'attempt/failed')
    expect(failures.at(-1)?.data).toEqual({
      turn: 3,
      step: 1,
      attempt: 1,
      error: {
        code: 'ROUTE_OPEN',
        message:
          'Nothing was sent to test, which failed 2 times in a row, for another 10 s. ' +
          'Wait, or take a model of another route.',
        retryable: false,
      },
    })
  })

  it('counts what is the fault of the route, and takes any other answer for a sign of life', async () => {
    const codes = ['SERVER', 'INVALID_REQUEST', 'SERVER', 'CONTENT_FILTERED', 'SERVER'] as const
    const { ask, requests } = await start(codes.map(failing))
    for (const code of codes) expect(await ask()).toBe(code)
    expect(requests).toHaveLength(5)
  })

  it('learns nothing from a request that was cancelled', async () => {
    const hang: Reply = async function* (_, signal) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      yield* []
      throw signal.reason
    }
    const { ask, agent, requests, wait } = await start([
      failing('SERVER'),
      failing('SERVER'),
      hang,
      say('back'),
    ])
    expect([await ask(), await ask()]).toEqual(['SERVER', 'SERVER'])
    wait(10_000)
    const asked = ask()
    await expect.poll(() => requests.length).toBe(3)
    await agent.cancel('enough')
    expect(await asked).toBe('ABORTED')
    expect(await ask()).toBe('completed')
  })
})
