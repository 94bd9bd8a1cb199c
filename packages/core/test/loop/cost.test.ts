import { afterEach, expect, it, vi } from 'vitest'
import { textMessage } from '@cordage/core/message'
import type { ModelEvent } from '@cordage/core/model'
import { assistantMessage, userMessage } from '@cordage/core/session'
import { defineTool } from '@cordage/core/tool'
import { z } from 'zod'
import { bench, call, say, type Bench, type BenchOptions } from './boot.ts'

let made: Bench | undefined
afterEach(async () => {
  vi.restoreAllMocks()
  await made?.close()
  made = undefined
})

const nothing: NonNullable<BenchOptions['tools']> = (add) =>
  add(
    defineTool({
      name: 'nothing',
      description: 'Does nothing.',
      parameters: z.strictObject({}),
      effects: () => [],
      execute: async () => 'done',
    }),
  )

const callNothing = (id: string) => call({ id, name: 'nothing', arguments: '{}' })

it('cancels a model that goes on without ever pausing', async () => {
  async function* babble(): AsyncIterable<ModelEvent> {
    for (;;) yield { type: 'text', text: 'on and ' }
  }
  made = await bench([babble])
  await made.agent.send('Begin', { wake: false })
  const turn = made.agent.wake()
  setTimeout(() => void made?.agent.cancel('enough'), 0)
  expect(await turn).toMatchObject({ reason: 'aborted', error: { message: 'enough' } })
})

it('lets the event loop turn between the deltas of an answer that is all there', async () => {
  let turns = 0
  let going = true
  const count = () => {
    turns += 1
    if (going) setImmediate(count)
  }
  made = await bench([
    async function* () {
      setImmediate(count)
      const before = turns
      for (let at = 0; at < 4_096; at += 1) yield { type: 'text', text: ` ${at}` }
      expect(turns - before).toBeGreaterThanOrEqual(15)
      yield { type: 'finish', reason: 'stop' }
    },
  ])
  await made.agent.send('Begin', { wake: false })
  expect(await made.agent.wake()).toMatchObject({ reason: 'completed' })
  going = false
})

it('gives every request the very messages of the one before it', async () => {
  made = await bench([callNothing('a'), callNothing('b'), say('Done.'), say('Again.')], {
    tools: nothing,
  })
  for (const text of ['Begin', 'Go on']) {
    await made.agent.send(text, { wake: false })
    await made.agent.wake()
  }
  const { requests, session } = made
  expect(requests.map(({ messages }) => messages.length)).toEqual([1, 3, 5, 7])
  for (const [at, { messages, tools, params }] of requests.entries()) {
    const before = requests[at - 1]
    for (const [place, { message }] of messages.entries()) {
      expect(message).toBe(session.surface[place]?.message)
      expect(isDeepFrozen(message)).toBe(true)
      if (before?.messages[place]) expect(messages[place]).toBe(before.messages[place])
    }
    if (before) expect(tools).toBe(before.tools)
    if (before) expect(params).toBe(before.params)
  }
})

it('freezes no more in a long history than in a short one, and nothing twice', async () => {
  const [short, long] = [await countFrozen(10), await countFrozen(1_000)]
  expect(short.frozen).toBeGreaterThan(0)
  expect(long).toEqual({ frozen: short.frozen, again: 0 })
})

/** How much a step freezes, after so many messages and a turn, and how much of it was frozen. */
async function countFrozen(messages: number): Promise<{ frozen: number; again: number }> {
  const one = await bench([say('Warm.'), callNothing('a'), say('Done.')], { tools: nothing })
  const source = { kind: 'model', provider: 'test', model: 'model' } as const
  const place = { turn: 1, step: 1, attempt: 1, finish: 'stop' }
  for (let at = 0; at < messages; at += 2) {
    await one.session.append([
      userMessage({ message: textMessage(`u${at}`, 'user', 'Ask', { kind: 'user' }) }),
      assistantMessage({ ...place, message: textMessage(`a${at}`, 'assistant', 'Say', source) }),
    ])
  }
  await one.agent.send('Begin', { wake: false })
  await one.agent.wake()
  await one.agent.send('Go on', { wake: false })
  const { freeze } = Object
  let [frozen, again] = [0, 0]
  const spy = vi.spyOn(Object, 'freeze').mockImplementation((value: unknown) => {
    frozen += 1
    if (Object.isFrozen(value)) again += 1
    return freeze(value)
  })
  await one.agent.wake()
  spy.mockRestore()
  await one.close()
  return { frozen, again }
}

function isDeepFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  return Object.isFrozen(value) && Object.values(value).every(isDeepFrozen)
}
