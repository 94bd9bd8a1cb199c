import { afterEach, describe, expect, it } from 'vitest'
import { definePlugin, type Context } from '@cordage/core/kernel'
import { preStep, requestError, turnStopping } from '@cordage/core/loop'
import { textOf } from '@cordage/core/message'
import { modelError } from '@cordage/core/model'
import { turnEnd, turnStart, type Session } from '@cordage/core/session'
import { defineTool } from '@cordage/core/tool'
import { z } from 'zod'
import { bench, call, say, type Bench, type BenchOptions, type Reply } from './boot.ts'

const open: Bench[] = []
async function start(replies: Reply[], options?: BenchOptions): Promise<Bench> {
  const made = await bench(replies, options)
  open.push(made)
  return made
}
afterEach(async () => {
  for (const made of open.splice(0)) await made.close()
})

/** A handler that goes on after `wait`. */
const after =
  (wait: () => Promise<void>) =>
  async <T>(_: unknown, next: () => Promise<T>): Promise<T> => {
    await wait()
    return next()
  }

const row = (apply: (ctx: Context) => unknown) => ({
  plugin: definePlugin({ name: 'hooked', apply: (ctx) => void apply(ctx) }),
})
const waiting = ({ inbox }: Session) => inbox.map(({ message }) => textOf(message))
/** What people said, in the order in which the model was told of it. */
const told = ({ session }: Bench) =>
  session.surface
    .filter(({ message }) => message.source.kind === 'user')
    .map(({ message }) => textOf(message))

describe('a message that waits', () => {
  it('can be given other words, another place, or be taken back', async () => {
    const made = await start([say('1'), say('2'), say('3')])
    const { agent, session } = made
    const ids: string[] = []
    for (const text of ['a', 'b', 'c', 'd']) {
      ids.push((await agent.send(text, { wake: false })).id)
    }
    await agent.edit(ids[1]!, 'B')
    await agent.reorder([ids[3]!, ids[0]!])
    await agent.unsend([ids[2]!])
    expect(waiting(session)).toEqual(['d', 'B', 'a'])
    await agent.wake()
    await agent.idle()
    expect(told(made)).toEqual(['d', 'B', 'a'])
    await expect(agent.edit(ids[0]!, 'x')).rejects.toMatchObject({ code: 'MESSAGE_GONE' })
    await expect(agent.edit(ids[0]!, ' ')).rejects.toMatchObject({ code: 'MESSAGE_EMPTY' })
  })

  it('is there after a restart as it was, and starts nothing by itself', async () => {
    const made = await start([say('on')])
    const { id } = made.session
    const first = await made.agent.send('a', { wake: false })
    await made.agent.send('b', { wake: false })
    await made.agent.edit(first.id, 'A')
    await made.agent.close()
    const session = await made.root.sessions.open(id)
    const { choice, authority } = made.agent
    const agent = await made.root.agents.spawn({ session, choice, authority })
    expect(waiting(session)).toEqual(['A', 'b'])
    expect(agent.status).toEqual({ kind: 'idle' })
    expect(made.requests).toHaveLength(0)
    expect(await agent.wake()).toMatchObject({ reason: 'completed' })
    await agent.close()
  })

  it('and is held goes on once it has other words', async () => {
    const guard = row((ctx) =>
      preStep.use(ctx, async ({ messages }, next) => {
        const secret = messages.some((message) => textOf(message).includes('1234'))
        return secret ? { kind: 'reject', reason: 'a secret' } : next()
      }),
    )
    const made = await start([say('fine')], { rows: [guard] })
    const sent = await made.agent.send('my key is 1234', { wake: false })
    expect(await made.agent.wake()).toMatchObject({ reason: 'blocked' })
    await made.agent.edit(sent.id, 'my key is secret')
    expect(await made.agent.wake()).toMatchObject({ reason: 'completed' })
    expect(told(made)).toEqual(['my key is secret'])
  })

  it('is not claimed where it was changed while hooks thought about it', async () => {
    const thought = Promise.withResolvers<void>()
    const seen: string[][] = []
    const thinker = row((ctx) =>
      preStep.use(ctx, async ({ messages }, next) => {
        seen.push(messages.map((message) => textOf(message)))
        await thought.promise
        return next()
      }),
    )
    const made = await start([say('1'), say('2')], { rows: [thinker] })
    const [first, second] = [await made.agent.send('a'), await made.agent.send('b')]
    await expect.poll(() => seen.length).toBe(1)
    await made.agent.edit(first.id, 'A')
    await made.agent.reorder([second.id, first.id])
    thought.resolve()
    await made.agent.idle()
    expect(seen).toEqual([['a'], ['b'], ['A']])
    expect(told(made)).toEqual(['b', 'A'])
  })
})

/** Each says something at one moment of the first turn; `say` may be called once. */
type Moment = (speak: () => Promise<void>) => { replies: Reply[]; options?: BenchOptions }

const once = (speak: () => Promise<void>) => {
  let spoken: Promise<void> | undefined
  return () => (spoken ??= speak())
}
const moments: Record<string, Moment> = {
  'while hooks think about the step': (speak) => ({
    replies: [],
    options: { rows: [row((ctx) => preStep.use(ctx, after(speak)))] },
  }),
  'while the model streams': (speak) => ({
    replies: [
      async function* () {
        yield { type: 'text', text: 'one' }
        await speak()
        yield { type: 'finish', reason: 'stop' }
      },
    ],
  }),
  'in the last tool': (speak) => ({
    replies: [call({ id: 'a', name: 'last', arguments: '{}' })],
    options: {
      tools: (add) =>
        add(
          defineTool({
            name: 'last',
            description: 'The last one.',
            parameters: z.strictObject({}),
            effects: () => [],
            execute: speak,
            render: () => 'done',
          }),
        ),
    },
  }),
  'while it waits to try again': (speak) => ({
    replies: [
      async function* () {
        throw modelError('SERVER', {})
      },
    ],
    options: {
      rows: [
        row((ctx) =>
          requestError.use(ctx, async () => {
            // Once the wait has begun.
            setImmediate(() => void speak())
            return { kind: 'retry', delayMs: 20 }
          }),
        ),
      ],
    },
  }),
  'after the last look at the inbox': (speak) => ({
    replies: [],
    options: {
      rows: [row((ctx) => turnStopping.use(ctx, after(speak)))],
    },
  }),
}

describe('what comes', () => {
  it.for(Object.entries(moments))('%s is told once, in order', async ([, moment]) => {
    const speak = once(async () => {
      await made.agent.send('a prompt')
      await made.agent.steer('a steer')
      await made.agent.send('another prompt')
      await made.agent.steer('another steer')
    })
    const { replies, options } = moment(speak)
    const made = await start([...replies, ...Array.from({ length: 6 }, () => say('ok'))], options)
    await made.agent.send('go')
    await expect.poll(() => told(made).length).toBe(5)
    await made.agent.idle()
    const all = told(made)
    expect(all.filter((text) => text.includes('prompt'))).toEqual(['a prompt', 'another prompt'])
    expect(all.filter((text) => text.includes('steer'))).toEqual(['a steer', 'another steer'])
    expect(made.session.inbox).toEqual([])
  })

  it('and is asked for when a turn has failed in the log has a turn, before the agent is idle', async () => {
    const broken: Reply = async function* () {
      await made.agent.send('with another key', { wake: false })
      throw modelError('AUTH', {})
    }
    const made = await start([broken, say('now')])
    let asked: Promise<unknown> | undefined
    made.session.watch(made.root, (update) => {
      if (update.kind === 'fact' && turnEnd.is(update.fact)) asked ??= made.agent.wake()
    })
    await made.agent.send('go', { wake: false })
    expect(await made.agent.wake()).toMatchObject({ reason: 'error' })
    expect(await asked).toMatchObject({ turn: 2, reason: 'completed' })
    expect(told(made)).toEqual(['go', 'with another key'])
    expect((await made.facts()).filter((fact) => turnStart.is(fact))).toHaveLength(2)
  })
})
