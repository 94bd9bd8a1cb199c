import { afterEach, describe, expect, it } from 'vitest'
import { textOf } from '@cordage/core/message'
import type { Fact } from '@cordage/core/session'
import { defineTool, type Tool } from '@cordage/core/tool'
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

const textArgs = z.strictObject({ text: z.string() })
const echo = defineTool({
  name: 'echo',
  description: 'Says it again.',
  parameters: textArgs,
  effects: () => [],
  concurrent: () => true,
  execute: async ({ text }) => `echo: ${text}`,
})

/** A tool that waits until it is told to go on, or for ever, deaf to its signal. */
function gate(deaf = false) {
  let release: (text: string) => void = () => {}
  let started = false
  const opened = new Promise<string>((resolve) => void (release = resolve))
  const tool = defineTool({
    name: 'gate',
    description: 'Waits.',
    parameters: z.strictObject({}),
    effects: () => [],
    execute: async (_args, run) => {
      started = true
      if (deaf) return opened
      const aborted = new Promise<never>((_, reject) =>
        run.signal.addEventListener('abort', () => reject(run.signal.reason as Error)),
      )
      return Promise.race([opened, aborted])
    },
  })
  return { tool, release: (text: string) => release(text), started: () => started }
}

/** Has the first of two overlapping calls end after the second. */
function answerLastFirst<A, V>(execute: Tool<A, V>['execute']): Tool<A, V>['execute'] {
  const second = Promise.withResolvers<void>()
  let calls = 0
  return async (args, run) => {
    calls += 1
    if (calls === 1) await second.promise
    const value = await execute(args, run)
    // The log has the second result before the first call goes on.
    setTimeout(second.resolve, 20)
    return value
  }
}

const resultsOf = (facts: Fact[]) =>
  facts
    .filter((fact) => fact.type === 'tool/result')
    .map((fact) => fact.data as { callId: string; error?: { code: string } })

describe('a step with calls', () => {
  it('gives the results to the model in its own order and goes on', async () => {
    const made = await start(
      [
        call(
          { id: 'a', name: 'echo', arguments: '{"text":"一"}' },
          { id: 'b', name: 'echo', arguments: '{"text":"二"}' },
        ),
        say('both done'),
      ],
      { tools: (add) => add({ ...echo, execute: answerLastFirst(echo.execute) }) },
    )
    await made.agent.send('go', { wake: false })
    expect(await made.agent.wake()).toMatchObject({ reason: 'completed' })
    expect(resultsOf(await made.facts()).map(({ callId }) => callId)).toEqual(['b', 'a'])
    const seen = made.requests[1]!.messages.slice(-2)
    expect(JSON.stringify(seen)).toMatch(/echo: 一[\s\S]*echo: 二/)
  })

  it('tells the model what was wrong with a call, and runs nothing', async () => {
    const made = await start(
      [
        call(
          { id: 'a', name: 'ehco', arguments: '{}' },
          { id: 'b', name: 'echo', arguments: '{"txt": 1}' },
          { id: 'c', name: 'echo', arguments: '{"text": "cut' },
        ),
        say('sorry'),
      ],
      { tools: (add) => add(echo) },
    )
    await made.agent.send('go', { wake: false })
    await made.agent.wake()
    expect(resultsOf(await made.facts()).map(({ error }) => error?.code)).toEqual([
      'UNKNOWN_TOOL',
      'INVALID_ARGS',
      'INVALID_ARGS',
    ])
    const told = JSON.stringify(made.requests[1]!.messages.slice(-3))
    expect(told).toMatch(/Did you mean echo\?.*`text` is missing.*cut off/)
  })

  it('gives repeated and empty call ids one result each', async () => {
    const text = '{"text":"x"}'
    const made = await start(
      [
        call(
          { id: 'same', name: 'echo', arguments: text },
          { id: 'same', name: 'echo', arguments: text },
          { id: '', name: 'echo', arguments: text },
        ),
        call({ id: 'same', name: 'echo', arguments: text }),
        say('ok'),
      ],
      { tools: (add) => add(echo) },
    )
    await made.agent.send('go', { wake: false })
    expect(await made.agent.wake()).toMatchObject({ reason: 'completed' })
    const ids = resultsOf(await made.facts()).map(({ callId }) => callId)
    expect(ids).toHaveLength(4)
    expect(new Set(ids).size).toBe(4)
  })

  it('takes a steer that arrives while a tool runs into the next step', async () => {
    const slow = gate()
    const made = await start([call({ id: 'a', name: 'gate', arguments: '{}' }), say('turned')], {
      tools: (add) => add(slow.tool),
    })
    await made.agent.send('go')
    await expect.poll(slow.started).toBe(true)
    await made.agent.steer('no, the other way')
    slow.release('went on')
    await made.agent.idle()
    expect(textOf(made.requests[1]!.messages.at(-1)!.message)).toBe('no, the other way')
    expect(made.session.inbox).toEqual([])
  })

  it('takes a steer that arrives with the last words of an answer in the same turn', async () => {
    const made = await start([
      async function* () {
        yield { type: 'text', text: 'done' }
        await made.agent.steer('one more thing')
        yield { type: 'finish', reason: 'stop' }
      },
      say('that too'),
    ])
    await made.agent.send('go', { wake: false })
    expect(await made.agent.wake()).toMatchObject({ turn: 1, reason: 'completed' })
    expect(made.requests).toHaveLength(2)
  })
})

describe('cancelling a batch', () => {
  it('ends what runs, starts nothing else, and gives each call one result', async () => {
    const slow = gate()
    const made = await start(
      [
        call(
          { id: 'a', name: 'gate', arguments: '{}' },
          { id: 'b', name: 'gate', arguments: '{}' },
        ),
      ],
      { tools: (add) => add(slow.tool) },
    )
    await made.agent.send('go')
    await expect.poll(slow.started).toBe(true)
    await made.agent.cancel('SIGINT')
    const results = resultsOf(await made.facts())
    expect(results.map(({ callId, error }) => [callId, error?.code])).toEqual([
      ['a', 'ABORTED'],
      ['b', 'ABORTED_BEFORE_DISPATCH'],
    ])
    expect(made.session.turn).toMatchObject({ open: false, unanswered: [] })
  })

  it('leaves a deaf tool behind with an unknown outcome and drops what it returns later', async () => {
    const deaf = gate(true)
    const made = await start([call({ id: 'a', name: 'gate', arguments: '{}' }), say('on')], {
      tools: (add) => add(deaf.tool),
    })
    await made.agent.send('go')
    await expect.poll(deaf.started).toBe(true)
    await made.agent.cancel()
    deaf.release('LATE')
    await made.agent.send('again', { wake: false })
    await made.agent.wake()
    const facts = await made.facts()
    expect(resultsOf(facts)).toMatchObject([{ error: { code: 'TOOL_OUTCOME_UNKNOWN' } }])
    expect(JSON.stringify(facts)).not.toContain('LATE')
  })
})

describe('a resumed session', () => {
  it('mends what a dead process left open before it goes on', async () => {
    const made = await start([say('recovered')], {
      tools: (add) => add(echo),
      session: async (root) => {
        const session = await root.sessions.create({ project: '/project', depth: 0 })
        const message = {
          id: 'm',
          role: 'assistant',
          content: [
            { type: 'tool-call', id: 'x', name: 'echo', arguments: '{}' },
            { type: 'tool-call', id: 'y', name: 'echo', arguments: '{}' },
          ],
          source: { kind: 'model', provider: 'test', model: 'model' },
        }
        const place = { turn: 1, step: 1 }
        await session.append([
          { type: 'turn/start', v: 1, data: { turn: 1 } },
          { type: 'step/start', v: 1, data: place },
          { type: 'attempt/start', v: 1, data: { ...place, attempt: 1 } },
          {
            type: 'assistant/message',
            v: 1,
            data: { ...place, attempt: 1, message, finish: 'tool-calls' },
          },
          {
            type: 'tool/call',
            v: 1,
            data: { ...place, callId: 'x', name: 'echo', arguments: '{}' },
          },
        ])
        return session
      },
    })
    expect(resultsOf(await made.facts()).map(({ callId, error }) => [callId, error?.code])).toEqual(
      [
        ['x', 'TOOL_OUTCOME_UNKNOWN'],
        ['y', 'TOOL_NOT_STARTED'],
      ],
    )
    await made.agent.send('go on', { wake: false })
    expect(await made.agent.wake()).toMatchObject({ turn: 2, reason: 'completed' })
  })
})
