import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { definePlugin } from '@cordage/core/kernel'
import { textOf } from '@cordage/core/message'
import {
  compactionEnd,
  compactionStart,
  compactionSummary,
  sessionDirectory,
  type Stability,
} from '@cordage/core/session'
import { bench, say, type Bench } from './boot.ts'

let made: Bench
afterEach(() => made.close())

/** One section and one snapshot, whose texts a test changes between turns. */
async function start(model = 'test/model') {
  const texts = { system: 'Be brief.', weather: 'It rains.' }
  const row = definePlugin({
    name: 'weather-row',
    inject: ['prompt'],
    apply(ctx) {
      ctx.prompt.section(ctx, { id: 'tone', render: () => texts.system })
      ctx.prompt.context(ctx, { id: 'weather', render: () => texts.weather })
      ctx.prompt.context(ctx, { id: 'place', render: ({ cwd }) => `You are in ${cwd}.` })
    },
  })
  made = await bench(
    Array.from({ length: 6 }, () => say('ok')),
    { rows: [{ plugin: row }], choice: { model } },
  )
  return texts
}

async function ask(text: string): Promise<string[]> {
  await made.agent.send(text, { wake: false })
  const outcome = await made.agent.wake()
  expect(outcome).toMatchObject({ reason: 'completed' })
  const { messages } = made.requests.at(-1)!
  return messages.map(({ message }) => `${message.role}: ${textOf(message)}`)
}

it('gives the system prompt and each snapshot once, while they stay the same', async () => {
  await start()
  await ask('one')
  expect(await ask('two')).toEqual([
    'system: Be brief.',
    'user: You are in /project.',
    'user: It rains.',
    'user: one',
    'assistant: ok',
    'user: two',
  ])
})

it('tells a child nothing that only its parent is to be told', async () => {
  await start()
  const { root, agent } = made
  const only = { id: 'role', render: () => 'You lead.' }
  root.prompt.section(agent.scope.ctx, only)
  root.prompt.context(agent.scope.ctx, { ...only, id: 'team' })
  expect((await ask('one')).filter((text) => text.includes('You lead.'))).toHaveLength(2)
  const child = await root.agents.spawn({
    session: await root.sessions.create({ project: '/project', depth: 1 }),
    choice: agent.choice,
    authority: agent.authority,
    parent: agent,
  })
  await child.send('two', { wake: false })
  await child.wake()
  const { messages } = made.requests.at(-1)!
  expect(messages.map(({ message }) => textOf(message))).toEqual([
    'Be brief.',
    'You are in /project.',
    'It rains.',
    'two',
  ])
})

it('adds a snapshot again when its text changes, naming its row', async () => {
  const texts = await start()
  await ask('one')
  texts.weather = 'It clears up.'
  expect((await ask('two')).slice(-2)).toEqual(['user: It clears up.', 'user: two'])
  const [first] = made.requests[0]!.messages.filter(({ message }) => message.role === 'user')
  expect(first?.message.source).toEqual({ kind: 'plugin', row: 'weather-row', form: 'snapshot' })
})

it('rewrites a changed system prompt in front, and only the last one counts', async () => {
  const texts = await start()
  await ask('one')
  texts.system = 'Be thorough.'
  const sent = await ask('two')
  expect(sent[0]).toBe('system: Be thorough.')
  expect(sent.filter((line) => line.startsWith('system'))).toHaveLength(1)
})

it('appends it after history on a model that declares so, and puts it in front for others', async () => {
  const texts = await start('test/in-history')
  await ask('one')
  texts.system = 'Be thorough.'
  const sent = await ask('two')
  expect(sent.slice(-3)).toEqual(['assistant: ok', 'system: Be thorough.', 'user: two'])
  expect(sent[0]).toBe('system: Be brief.')
  made.agent.choice = { model: 'test/other', params: {} }
  const other = await ask('three')
  expect(other.filter((line) => line.startsWith('system'))).toEqual(['system: Be thorough.'])
  expect(other[0]).toBe('system: Be thorough.')
})

it('clears the effective one when the prompt becomes empty', async () => {
  const texts = await start()
  await ask('one')
  texts.system = ''
  expect((await ask('two')).some((line) => line.startsWith('system'))).toBe(false)
  expect((await ask('three')).some((line) => line.startsWith('system'))).toBe(false)
})

it('gives a snapshot again when a compaction has replaced the last one', async () => {
  await start()
  await ask('one')
  const { surface } = made.session
  const entries = surface.filter(({ message }) => message.role !== 'system')
  const id = 'c1'
  await made.session.append([
    compactionStart({ id }),
    compactionSummary({
      id,
      range: { from: entries[0]!.seq, to: entries.at(-1)!.seq },
      message: {
        id: 'summary',
        role: 'user',
        content: [{ type: 'text', text: 'They spoke of one.' }],
        source: { kind: 'plugin', row: 'test', form: 'summary' },
      },
    }),
    compactionEnd({ id }),
  ])
  expect(await ask('two')).toEqual([
    'system: Be brief.',
    'user: They spoke of one.',
    'user: You are in /project.',
    'user: It rains.',
    'user: two',
  ])
})

it('follows the current directory of the session, which the project does not', async () => {
  await start()
  await ask('one')
  await made.session.append([sessionDirectory({ cwd: '/project/deep' })])
  expect((await ask('two')).slice(-2)).toEqual(['user: You are in /project/deep.', 'user: two'])
  expect(made.session.header.project).toBe('/project')
})

describe('the order', () => {
  const part = (id: string, stability?: Stability, order?: number) => ({
    id,
    ...(stability ? { stability } : {}),
    ...(order === undefined ? {} : { order }),
    render: () => id,
  })

  it('of sections, tools and contexts is by what each declares, whatever came first', async () => {
    await start()
    const { root, agent } = made
    const { ctx } = agent.scope
    root.prompt.section(ctx, part('a', 'volatile'))
    root.prompt.section(ctx, part('b', 'per-session', -5))
    root.prompt.section(ctx, part('c'))
    root.prompt.context(ctx, part('d'))
    root.prompt.context(ctx, part('e', 'stable', 9))
    const tool = (name: string, stability?: Stability) => ({
      name,
      description: name,
      parameters: z.strictObject({}),
      effects: () => [],
      execute: async () => name,
      ...(stability ? { stability } : {}),
    })
    root.tools.register(ctx, tool('f', 'volatile'))
    root.tools.register(ctx, tool('h'))
    root.tools.register(ctx, tool('g', 'per-session'))
    const sent = await ask('one')
    expect(sent[0]).toBe('system: c\n\nBe brief.\n\nb\n\na')
    expect(sent.slice(1, 3)).toEqual(['user: e', 'user: d'])
    expect(made.requests.at(-1)?.tools.map(({ name }) => name)).toEqual(['h', 'g', 'f'])
    const { origin = [] } = made.session.requestHeader ?? {}
    expect(origin.map(({ part: name, stability }) => `${name} ${stability}`)).toEqual([
      'system: c stable',
      'system: tone stable',
      'system: b per-session',
      'system: a volatile',
      'tool: h stable',
      'tool: g per-session',
      'tool: f volatile',
    ])
  })
})

it('tells a person once which row declares stable what is not', async () => {
  const texts = await start()
  await ask('one')
  expect(made.warned).toEqual([])
  texts.system = 'Be thorough.'
  texts.weather = 'It clears up.'
  await ask('two')
  texts.system = ''
  await ask('three')
  expect(made.warned).toHaveLength(1)
  expect(made.warned[0]).toMatch(
    /^row weather-row has changed its prompt part tone within a session and declares it stable/,
  )
})

it.each(['section', 'context'] as const)(
  'names the row whose %s is no text, and takes none whose stability there is not',
  async (kind) => {
    const row = definePlugin({
      name: 'odd-row',
      inject: ['prompt'],
      apply(ctx) {
        ctx.prompt[kind](ctx, { id: 'odd', render: () => 5 as never })
        ctx.prompt[kind](ctx, { id: 'none', render: () => null as never })
        const stability = 'forever' as Stability
        const register = () => ctx.prompt[kind](ctx, { id: 'lost', stability, render: () => 'x' })
        expect(register).toThrow('prompt part lost is declared "forever"')
      },
    })
    made = await bench([], { rows: [{ plugin: row }] })
    await made.agent.send('one', { wake: false })
    expect(await made.agent.wake()).toMatchObject({
      error: { code: 'PROMPT_FAILED', message: expect.stringMatching(/odd-row.*odd: .*number/) },
    })
  },
)
