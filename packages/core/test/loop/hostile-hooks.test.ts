import { afterEach, describe, expect, it } from 'vitest'
import { definePlugin, type Context } from '@cordage/core/kernel'
import { preStep, request, requestError, turnStopping } from '@cordage/core/loop'
import { modelError, type ModelEvent } from '@cordage/core/model'
import { toolResult } from '@cordage/core/session'
import { defineTool, execute, postExecute, preExecute } from '@cordage/core/tool'
import { z } from 'zod'
import { bench, call, say, type Bench, type Reply } from './boot.ts'

let made: Bench | undefined
afterEach(async () => {
  await made?.close()
  made = undefined
})

class Unreadable extends Error {
  override get message(): string {
    throw new TypeError('not even this')
  }
}
const ownCause = new Error('round and round')
ownCause.cause = ownCause
const refuses = () => {
  throw new TypeError('a trap')
}

/** What a plugin may throw. */
const thrown: Record<string, () => unknown> = {
  'an error': () => new TypeError('x is not a function'),
  nothing: () => undefined,
  'an object without a prototype': () => Object.create(null) as unknown,
  'an error with a getter that throws': () => new Unreadable(),
  'an error that is its own cause': () => ownCause,
  'a proxy that throws at every look': () =>
    new Proxy({}, { get: refuses, getPrototypeOf: refuses, has: refuses, ownKeys: refuses }),
}
const ways: Record<string, (error: unknown) => Promise<never>> = {
  'at once': (error) => {
    throw error
  },
  later: async (error) => {
    await new Promise((resolve) => setImmediate(resolve))
    throw error
  },
}
const cases = Object.keys(thrown).flatMap((what) => Object.keys(ways).map((how) => [what, how]))

type Fail = () => Promise<never>
const hooks: Record<string, (ctx: Context, fail: Fail) => unknown> = {
  'agent/pre-step': (ctx, fail) => preStep.use(ctx, fail),
  'agent/request': (ctx, fail) => request.use(ctx, fail),
  'agent/request-error': (ctx, fail) => requestError.use(ctx, fail),
  'agent/turn-stopping': (ctx, fail) => turnStopping.use(ctx, fail),
}
const broken: Reply = async function* () {
  throw modelError('SERVER', {})
}

async function start(apply: (ctx: Context) => unknown, replies: Reply[]): Promise<Bench> {
  const plugin = definePlugin({ name: 'bad-row', apply: (ctx) => void apply(ctx) })
  return bench(replies, {
    rows: [{ plugin }],
    tools: (add) =>
      add(
        defineTool({
          name: 'act',
          description: 'Acts.',
          parameters: z.strictObject({}),
          effects: () => [],
          execute: async () => 'acted',
        }),
      ),
  })
}

async function turn(bench: Bench) {
  await bench.agent.send('go', { wake: false })
  return bench.agent.wake()
}

describe('a row that throws', () => {
  it.for(cases)('%s %s fails the turn by its name, in whatever hook of the loop', async (one) => {
    const [what = '', how = ''] = one
    for (const [name, use] of Object.entries(hooks)) {
      const replies = name === 'agent/request-error' ? [broken] : [say('hello')]
      made = await start((ctx) => use(ctx, () => ways[how]!(thrown[what]!())), replies)
      const outcome = await turn(made)
      expect(outcome, name).toMatchObject({ reason: 'error', error: { code: 'HOOK_FAILED' } })
      expect(outcome!.error!.message, name).toContain('bad-row')
      expect(made.agent.status).toEqual({ kind: 'idle' })
      expect(made.session.turn, name).toMatchObject({ open: false, attemptOpen: false })
      await made.close()
    }
    made = undefined
  })

  it.for(cases)('%s %s in a hook of tools fails the call, and the turn goes on', async (one) => {
    const [what = '', how = ''] = one
    const use = [preExecute, execute, postExecute].map((hook) => {
      return (ctx: Context) => hook.use(ctx, () => ways[how]!(thrown[what]!()))
    })
    for (const apply of use) {
      made = await start(apply, [call({ id: 'a', name: 'act', arguments: '{}' }), say('so')])
      expect(await turn(made)).toMatchObject({ reason: 'completed' })
      const results = (await made.facts()).filter((fact) => toolResult.is(fact))
      expect(results.map(({ data }) => data.error?.message)).toMatchObject([/bad-row/])
      await made.close()
    }
    made = undefined
  })

  it.for(cases)('%s %s as a model or as a tool ends nothing but the turn', async (one) => {
    const [what = '', how = ''] = one
    const fail = () => ways[how]!(thrown[what]!())
    const failing: Reply = async function* (): AsyncGenerator<ModelEvent> {
      yield { type: 'text', text: 'so far' }
      await fail()
    }
    const bad = defineTool({
      name: 'bad',
      description: 'Fails.',
      parameters: z.strictObject({}),
      effects: () => [],
      execute: fail,
    })
    const acting = call({ id: 'a', name: 'bad', arguments: '{}' })
    made = await bench([failing, acting, say('so')], { tools: (add) => add(bad) })
    expect(await turn(made)).toMatchObject({ reason: 'error', error: { code: 'INTERNAL' } })
    expect(await turn(made)).toMatchObject({ reason: 'completed' })
    const results = (await made.facts()).filter((fact) => toolResult.is(fact))
    expect(results.map(({ data }) => data.error?.code)).toEqual(['TOOL_FAILED'])
  })

  it('gives what is no answer of its hook', async () => {
    for (const [name, use] of Object.entries(hooks)) {
      for (const nonsense of [undefined, null, 7, {}, { kind: 'retry' }, { kind: 'enter' }]) {
        const replies = name === 'agent/request-error' ? [broken] : [say('hello')]
        made = await start((ctx) => use(ctx, async () => nonsense as never), replies)
        const outcome = await turn(made)
        expect(outcome?.error, name).toMatchObject({ code: 'HOOK_ANSWER_INVALID' })
        expect(outcome?.error?.message).toContain(name)
        expect(made.session.turn).toMatchObject({ open: false, attemptOpen: false })
        await made.close()
      }
    }
    made = undefined
  })

  it('after a failure of the model leaves that failure in the log', async () => {
    made = await start(
      (ctx) => hooks['agent/request-error']!(ctx, () => ways['at once']!('no')),
      [broken],
    )
    await turn(made)
    const failed = (await made.facts()).find(({ type }) => type === 'attempt/failed')
    expect(failed?.data).toMatchObject({ error: { code: 'SERVER' } })
  })
})
