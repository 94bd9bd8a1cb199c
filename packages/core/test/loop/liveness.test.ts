import { afterEach, describe, expect, it } from 'vitest'
import { definePlugin, type Context } from '@cordage/core/kernel'
import { preStep, request, requestError, turnStopping } from '@cordage/core/loop'
import { modelError } from '@cordage/core/model'
import { defineTool, execute, postExecute, preExecute } from '@cordage/core/tool'
import { z } from 'zod'
import { simulatedClock } from '../../../kit/testkit/src/simulation/clock.ts'
import { bench, call, say, type Bench, type BenchOptions, type Reply } from './boot.ts'

const GRACE_MS = 5_000
let made: Bench | undefined
afterEach(async () => {
  await made?.close()
  made = undefined
})

/** Something that never ends by itself, whatever signal it is given. */
function stuck() {
  let reached = 0
  const released = Promise.withResolvers<void>()
  const wait = async () => {
    reached += 1
    await released.promise
  }
  return { wait, reached: () => reached, release: () => released.resolve() }
}
type Stuck = ReturnType<typeof stuck>

/** A handler that goes on after `wait`. */
const after =
  (wait: () => Promise<void>) =>
  async <T>(_: unknown, next: () => Promise<T>): Promise<T> => {
    await wait()
    return next()
  }

const row = (apply: (ctx: Context) => unknown) => ({
  plugin: definePlugin({ name: 'stuck-row', apply: (ctx) => void apply(ctx) }),
})
const promptRow = ({ wait }: Stuck) => ({
  plugin: definePlugin({
    name: 'stuck-prompt',
    inject: ['prompt'],
    apply: (ctx) => {
      const render = async () => {
        await wait()
        return 'late'
      }
      ctx.prompt.section(ctx, { id: 'late', render })
    },
  }),
})
const approvalRow = ({ wait }: Stuck) => ({
  plugin: definePlugin({
    name: 'stuck-answerer',
    inject: ['approvals'],
    apply: (ctx) => {
      ctx.approvals.answerer(ctx, async () => {
        await wait()
        return { outcome: 'allowed', by: 'late' }
      })
      preExecute.use(ctx, () => ({ answer: 'ask', reason: 'who knows' }))
    },
  }),
})
const tool = (body: () => Promise<void>): Pick<BenchOptions, 'tools'> => ({
  tools: (add) =>
    add(
      defineTool({
        name: 'act',
        description: 'Acts.',
        parameters: z.strictObject({}),
        effects: () => [],
        execute: async () => {
          await body()
          return 'acted'
        },
      }),
    ),
})
const idle = tool(async () => {})
const acting: Reply = call({ id: 'a', name: 'act', arguments: '{}' })
const broken: Reply = async function* () {
  throw modelError('SERVER', {})
}
const deaf = ({ wait }: Stuck): Reply =>
  async function* () {
    yield { type: 'text', text: 'so far' }
    await wait()
    yield { type: 'text', text: 'LATE' }
  }

interface Moment {
  readonly waiting: string
  readonly replies?: (stuck: Stuck) => Reply[]
  readonly options: (stuck: Stuck) => BenchOptions
}

const moments: Record<string, Moment> = {
  'the prompt assembly': {
    waiting: 'the prompt',
    options: (at) => ({ rows: [promptRow(at)] }),
  },
  'a hook before the step': {
    waiting: 'agent/pre-step',
    options: ({ wait }) => ({
      rows: [row((ctx) => preStep.use(ctx, after(wait)))],
    }),
  },
  'a hook around the request': {
    waiting: 'test/model',
    options: ({ wait }) => ({
      rows: [row((ctx) => request.use(ctx, after(wait)))],
    }),
  },
  'the stream': {
    waiting: 'test/model',
    replies: (at) => [deaf(at)],
    options: () => ({}),
  },
  'a hook after a failure': {
    waiting: 'agent/request-error',
    replies: () => [broken],
    options: ({ wait }) => ({
      rows: [row((ctx) => requestError.use(ctx, after(wait)))],
    }),
  },
  'a guard of a call': {
    waiting: 'tools',
    replies: () => [acting],
    options: ({ wait }) => ({
      ...idle,
      rows: [
        row((ctx) =>
          preExecute.use(ctx, async () => {
            await wait()
            return { answer: 'ask', reason: 'late' }
          }),
        ),
      ],
    }),
  },
  'an approval': {
    waiting: 'approval of act',
    replies: () => [acting],
    options: (at) => ({ ...idle, rows: [approvalRow(at)] }),
  },
  'a hook around a body': {
    waiting: 'tools',
    replies: () => [acting],
    options: ({ wait }) => ({
      ...idle,
      rows: [row((ctx) => execute.use(ctx, after(wait)))],
    }),
  },
  'a body': {
    waiting: 'tools',
    replies: () => [acting],
    options: ({ wait }) => tool(wait),
  },
  'a half-done batch': {
    waiting: 'tools',
    replies: () => [
      call(
        { id: 'a', name: 'nothing', arguments: '{}' },
        { id: 'b', name: 'act', arguments: '{}' },
        { id: 'c', name: 'act', arguments: '{}' },
      ),
    ],
    options: ({ wait }) => tool(wait),
  },
  'a hook after a body': {
    waiting: 'tools',
    replies: () => [acting],
    options: ({ wait }) => ({
      ...idle,
      rows: [row((ctx) => postExecute.use(ctx, after(wait)))],
    }),
  },
  'a hook before the end': {
    waiting: 'agent/turn-stopping',
    replies: () => [say('done')],
    options: ({ wait }) => ({
      rows: [row((ctx) => turnStopping.use(ctx, after(wait)))],
    }),
  },
}

describe('a cancellation', () => {
  it.for(Object.entries(moments))(
    'in %s leaves an idle agent within one grace period, and nothing comes after',
    async ([, { waiting, replies, options }]) => {
      const clock = simulatedClock()
      const at = stuck()
      const loop = { cancelGraceMs: GRACE_MS }
      made = await bench(replies?.(at) ?? [], { ...options(at), loop, clock })
      await made.agent.send('go')
      await expect.poll(at.reached).toBe(1)
      expect(made.agent.status).toMatchObject({ kind: 'running', waiting })
      const cancelled = made.agent.cancel('enough')
      clock.advance(GRACE_MS)
      await cancelled
      expect(made.agent.status).toEqual({ kind: 'idle' })
      expect(made.session.turn).toMatchObject({ open: false, unanswered: [] })
      const [before, asked] = [await made.facts(), made.requests.length]
      at.release()
      await new Promise((resolve) => setImmediate(resolve))
      expect(await made.facts()).toEqual(before)
      expect(made.requests).toHaveLength(asked)
      expect(JSON.stringify(before)).not.toContain('LATE')
      expect(before.at(-1)).toMatchObject({ type: 'turn/end', data: { reason: 'aborted' } })
    },
  )

  it('gives all that has to end after it one grace period together', async () => {
    const clock = simulatedClock()
    const [body, later] = [stuck(), stuck()]
    made = await bench([acting], {
      ...tool(body.wait),
      rows: [row((ctx) => postExecute.use(ctx, after(later.wait)))],
      loop: { cancelGraceMs: GRACE_MS },
      clock,
    })
    await made.agent.send('go')
    await expect.poll(body.reached).toBe(1)
    const cancelled = made.agent.cancel()
    clock.advance(GRACE_MS - 1)
    body.release()
    await expect.poll(later.reached).toBe(1)
    clock.advance(1)
    await cancelled
    expect(made.agent.status).toEqual({ kind: 'idle' })
  })

  it('lets a prompt that was sent after it have its own turn', async () => {
    const clock = simulatedClock()
    const at = stuck()
    made = await bench([deaf(at), say('to the second')], { clock })
    await made.agent.send('first')
    await expect.poll(at.reached).toBe(1)
    await made.agent.send('queued before', { wake: false })
    const cancelled = made.agent.cancel()
    await made.agent.send('sent after')
    const next = made.agent.wake()
    clock.advance(GRACE_MS)
    await cancelled
    expect(await next).toMatchObject({ turn: 2, reason: 'completed' })
  })
})

describe('a stream', () => {
  const endless: Reply = async function* (_request, signal) {
    while (!signal.aborted) {
      yield { type: 'text', text: 'and ' }
      await new Promise((resolve) => setImmediate(resolve))
    }
    throw signal.reason
  }

  it('has a deadline, whatever it brings', async () => {
    const clock = simulatedClock()
    made = await bench([endless], { loop: { streamTotalTimeoutMs: 60_000 }, clock })
    await made.agent.send('go', { wake: false })
    const turn = made.agent.wake()
    await expect.poll(() => made!.requests.length).toBe(1)
    clock.advance(60_000)
    expect(await turn).toMatchObject({ reason: 'error', error: { code: 'TIMEOUT' } })
  })

  it('may be silent for as long as it is allowed to, again and again', async () => {
    const clock = simulatedClock()
    let pieces = 0
    const slow: Reply = async function* () {
      for (pieces = 1; pieces < 5; pieces += 1) {
        yield { type: 'text', text: '.' }
        clock.advance(10_000)
      }
      yield { type: 'finish', reason: 'stop' }
    }
    made = await bench([slow], { loop: { streamIdleTimeoutMs: 10_000 }, clock })
    await made.agent.send('go', { wake: false })
    expect(await made.agent.wake()).toMatchObject({ reason: 'completed' })
    expect(pieces).toBe(5)
  })
})
