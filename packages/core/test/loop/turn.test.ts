import { afterEach, describe, expect, it } from 'vitest'
import { definePlugin } from '@cordage/core/kernel'
import { preStep, request, turnStopping } from '@cordage/core/loop'
import { textMessage, textOf } from '@cordage/core/message'
import { inboxSplice, toolResult } from '@cordage/core/session'
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

async function run(made: Bench, text: string) {
  await made.agent.send(text, { wake: false })
  return made.agent.wake()
}

describe('a turn', () => {
  it('answers and ends durably, with every fact in order', async () => {
    const made = await start([say('Hello.')])
    const outcome = await run(made, 'Hi')
    expect(outcome).toMatchObject({ turn: 1, reason: 'completed' })
    expect(textOf(outcome!.answer!)).toBe('Hello.')
    expect(await made.types()).toEqual([
      'inbox/splice',
      'turn/start',
      'inbox/splice',
      'step/start',
      'user/message',
      'request/header',
      'request/context',
      'attempt/start',
      'assistant/message',
      'step/end',
      'turn/end',
    ])
  })

  it('logs the request header again only when it changes', async () => {
    const made = await start([say('1'), say('2'), say('3')])
    await run(made, 'a')
    await run(made, 'b')
    made.agent.choice = { model: 'test/other', params: { effort: 'high' } }
    await run(made, 'c')
    const headers = (await made.facts()).filter((fact) => fact.type === 'request/header')
    expect(headers.map((fact) => (fact.data as { reason: string }).reason)).toEqual([
      'initial',
      'change',
    ])
    expect(made.requests[2]).toMatchObject({ model: 'other', params: { effort: 'high' } })
  })

  it('takes queued prompts one turn each, in order', async () => {
    const made = await start([say('1'), say('2')])
    await made.agent.send('first', { wake: false })
    await made.agent.send('second')
    await made.agent.idle()
    expect(made.requests.map((request) => textOf(request.messages.at(-1)!.message))).toEqual([
      'first',
      'second',
    ])
    expect((await made.types()).filter((type) => type === 'turn/end')).toHaveLength(2)
  })

  it('refuses an empty prompt', async () => {
    const made = await start([])
    await expect(made.agent.send('  \n')).rejects.toMatchObject({ code: 'MESSAGE_EMPTY' })
  })

  it('fails with the model error when the effort is not one of the model', async () => {
    const made = await start([], { choice: { params: { effort: 'absurd' } } })
    const outcome = await run(made, 'hi')
    expect(outcome).toMatchObject({
      reason: 'error',
      error: { code: 'UNSUPPORTED_REASONING_EFFORT' },
    })
    expect(made.session.inbox).toHaveLength(1)
  })
})

describe('hooks', () => {
  it('agent/pre-step that rejects holds the prompt with its reason and asks no model', async () => {
    const guard = definePlugin({
      name: 'guard',
      apply: (ctx) =>
        void preStep.use(ctx, async () => ({ kind: 'reject', reason: 'no secrets please' })),
    })
    const made = await start([say('after release')], { rows: [{ plugin: guard }] })
    expect(await run(made, 'my key is 1234')).toMatchObject({ reason: 'blocked' })
    expect(made.session.inbox).toMatchObject([{ held: 'no secrets please' }])
    expect(made.requests).toHaveLength(0)
    expect(await made.agent.wake()).toBeUndefined()
  })

  it('agent/pre-step that throws leaves the inbox untouched and names its row', async () => {
    const bad = definePlugin({
      name: 'bad-row',
      apply: (ctx) =>
        void preStep.use(ctx, async () => {
          throw new TypeError('x is not a function')
        }),
    })
    const made = await start([], { rows: [{ plugin: bad }] })
    const outcome = await run(made, 'hello')
    expect(outcome).toMatchObject({ reason: 'error', error: { code: 'HOOK_FAILED' } })
    expect(outcome!.error!.message).toContain('bad-row')
    expect(made.logged.join()).toContain('x is not a function')
    expect(made.session.inbox).toMatchObject([{ message: { content: [{ text: 'hello' }] } }])
  })

  it('agent/pre-step that never settles is left behind when the turn is cancelled', async () => {
    const stuck = definePlugin({
      name: 'stuck',
      apply: (ctx) => void preStep.use(ctx, () => new Promise(() => {})),
    })
    const made = await start([], { rows: [{ plugin: stuck }] })
    await made.agent.send('hello', { wake: false })
    const turn = made.agent.wake()
    await made.agent.cancel('SIGINT')
    expect(await turn).toMatchObject({ reason: 'aborted' })
    expect(made.session.inbox).toHaveLength(1)
  })

  it('agent/pre-step that lets nothing enter uses the prompt up, and no turn follows', async () => {
    const swallow = definePlugin({
      name: 'swallow',
      apply: (ctx) => void preStep.use(ctx, async () => ({ kind: 'enter', messages: [] })),
    })
    const made = await start([], { rows: [{ plugin: swallow }] })
    await made.agent.send('for the hook alone')
    await made.agent.idle()
    expect(made.session.inbox).toEqual([])
    expect((await made.types()).filter((type) => type === 'turn/start')).toHaveLength(1)
  })

  it('agent/pre-step that takes its time lets a person take the prompt back', async () => {
    const thought = Promise.withResolvers<void>()
    let asked = 0
    const thinker = definePlugin({
      name: 'thinker',
      apply: (ctx) =>
        void preStep.use(ctx, async (_input, next) => {
          asked += 1
          await thought.promise
          return next()
        }),
    })
    const made = await start([say('to the second')], { rows: [{ plugin: thinker }] })
    const first = await made.agent.send('never mind')
    await made.agent.send('this instead')
    await expect.poll(() => asked).toBe(1)
    await made.agent.unsend([first.id])
    thought.resolve()
    await made.agent.idle()
    const sent = made.requests.map(({ messages }) => messages.map(({ message }) => textOf(message)))
    expect(sent).toEqual([['this instead']])
  })

  it('agent/request that never settles is left behind when the turn is cancelled', async () => {
    let asked = 0
    const stuck = definePlugin({
      name: 'stuck',
      apply: (ctx) =>
        void request.use(ctx, () => {
          asked += 1
          return new Promise(() => {})
        }),
    })
    const made = await start([], { rows: [{ plugin: stuck }] })
    await made.agent.send('hello', { wake: false })
    const turn = made.agent.wake()
    await expect.poll(() => asked).toBe(1)
    await made.agent.cancel('SIGINT')
    expect(await turn).toMatchObject({ reason: 'aborted' })
  })

  it('agent/turn-stopping that leaves a notice wakes nobody with it', async () => {
    const source = { kind: 'plugin', row: 'noting', form: 'notice' } as const
    const message = textMessage('n1', 'user', 'By the way.', source)
    const noting = definePlugin({
      name: 'noting',
      apply: (ctx) =>
        void turnStopping.use(ctx, async ({ agent, turn }, next) => {
          const inserted = [{ queue: 'next-step' as const, message }]
          if (turn === 1) await agent.session.append([inboxSplice({ inserted, cause: 'send' })])
          return next()
        }),
    })
    const made = await start([say('1'), say('2')], { rows: [{ plugin: noting }] })
    await made.agent.send('go')
    await made.agent.idle()
    expect(made.requests).toHaveLength(1)
    expect(await made.agent.wake()).toBeUndefined()
    await made.agent.send('again')
    await made.agent.idle()
    expect(JSON.stringify(made.requests[1]!.messages)).toContain('By the way.')
    expect(made.session.inbox).toEqual([])
  })

  it('agent/turn-stopping may ask for more, at most maxContinuations times', async () => {
    const eager = definePlugin({
      name: 'eager',
      apply: (ctx) =>
        void turnStopping.use(ctx, async () => ({ kind: 'continue', text: 'Check again.' })),
    })
    const made = await start([say('1'), say('2'), say('3')], {
      rows: [{ plugin: eager }],
      loop: { maxContinuations: 2 },
    })
    expect(await run(made, 'go')).toMatchObject({ reason: 'completed' })
    expect(made.requests).toHaveLength(3)
    expect(textOf(made.requests[1]!.messages.at(-1)!.message)).toBe('Check again.')
  })
})

describe('limits', () => {
  it('end the turn with budget before the step that would pass them', async () => {
    const made = await start([call({ id: 'a', name: 'nothing', arguments: '{}' })], {
      limits: { maxSteps: 1 },
    })
    expect(await run(made, 'go')).toMatchObject({
      reason: 'budget',
      error: { code: 'BUDGET_EXCEEDED' },
    })
    expect(made.requests).toHaveLength(1)
  })

  it('end it after the batch in which its calls were used up, and it can be gone on with', async () => {
    const twice = call(
      { id: 'a', name: 'nothing', arguments: '{}' },
      { id: 'b', name: 'nothing', arguments: '{}' },
    )
    const made = await start([twice, say('never asked')], { limits: { maxToolCalls: 1 } })
    const outcome = await run(made, 'go')
    expect(outcome).toMatchObject({ reason: 'budget', error: { code: 'BUDGET_EXCEEDED' } })
    expect(outcome!.error!.message).toContain('maxToolCalls')
    expect(made.requests).toHaveLength(1)
    const codes = (await made.facts())
      .filter((fact) => toolResult.is(fact))
      .map(({ data }) => data.error?.code)
    expect(codes).toEqual(['UNKNOWN_TOOL', 'BUDGET_EXCEEDED'])
    expect(made.session.turn).toMatchObject({ open: false, stepOpen: false, unanswered: [] })
    const exact = await start([call({ id: 'a', name: 'nothing', arguments: '{}' }), say('done')], {
      limits: { maxToolCalls: 1 },
    })
    expect(await run(exact, 'go')).toMatchObject({ reason: 'completed' })
  })

  it('do not end it for a deadline that is further off than a timer can wait', async () => {
    const slow: Reply = async function* () {
      await new Promise((resolve) => setTimeout(resolve, 30))
      yield* say('in time')
    }
    const made = await start([slow], { limits: { deadline: Date.now() + 2 ** 32 } })
    expect(await run(made, 'go')).toMatchObject({ reason: 'completed' })
  })

  it('end it at the deadline, in the middle of a stream', async () => {
    const forever: Reply = async function* (_request, signal) {
      yield { type: 'text', text: 'thinking about it' }
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    }
    // Late enough for the request to have begun on a busy machine.
    const made = await start([forever], { limits: { deadline: Date.now() + 1000 } })
    expect(await run(made, 'go')).toMatchObject({ reason: 'budget' })
    const message = (await made.facts()).find((fact) => fact.type === 'assistant/message')
    expect(message?.data).toMatchObject({ interrupted: true })
  })
})
