import { textOf } from '@cordage/core/message'
import { definePlugin, footprint, mount, own } from '@cordage/core/kernel'
import type { ModelEvent } from '@cordage/core/model'
import { sessionChild, toolResult, turnEnd } from '@cordage/core/session'
import { defineTool } from '@cordage/core/tool'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { call, say } from '../../../core/test/loop/boot.ts'
import subagent from '../src/index.ts'
import { delegate, heard, isTask, openFamily, type Answer } from './family.ts'

/** A parent that asks for these, and children that do what `child` says. */
const family =
  (child: Answer, ...prompts: string[]): Answer =>
  (last, request, signal) => {
    if (prompts.some((prompt) => isTask(last, prompt))) return child(last, request, signal)
    if (textOf(last) === 'go') return delegate('subagent', ...prompts)
    const { messages } = request
    return messages.some(({ message }) => isTask(message, prompts[0] ?? ''))
      ? child(last, request, signal)
      : say('Done.')
  }

/** Says something and waits until it is stopped. */
async function* hang(signal: AbortSignal): AsyncGenerator<ModelEvent> {
  yield { type: 'text', text: 'Half of it' }
  await new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
}

it('a child that is too deep is refused with the limit, and no session is made', async () => {
  const answer: Answer = (last) => {
    if (isTask(last, 'outer')) return delegate('subagent_fork', 'inner')
    if (textOf(last) === 'go') return delegate('subagent_fork', 'outer')
    return say(`heard ${heard(last)}`)
  }
  await using made = await openFamily(answer)
  await made.ask('go')
  const [{ text } = { text: '' }] = made.results()
  expect(text).toMatch(/^heard SUBAGENT_DEPTH_EXCEEDED: .*depth 2 .*depth 1/)
  expect(await made.children()).toHaveLength(1)
})

it('children of one answer run at once, and their reports come in the order of the calls', async () => {
  const running: string[] = []
  const all = Promise.withResolvers<void>()
  const prompts = ['a', 'b', 'c', 'd']
  const child: Answer = async function* (last) {
    const task = textOf(last).at(-1)!
    running.push(task)
    if (running.length === prompts.length) all.resolve()
    // The last one ends first.
    await all.promise
    yield* say(`report ${task}`)
  }
  await using made = await openFamily(family(child, ...prompts))
  expect(await made.ask('go')).toBe('Done.')
  expect(made.results().map(({ text }) => text)).toEqual(prompts.map((name) => `report ${name}`))
  const facts = await made.bench.facts()
  const started = facts.filter(sessionChild.is).map(({ data }) => data)
  const children = (await made.children()).map(({ header }) => header.id)
  expect(started.map(({ session }) => session).sort()).toEqual(children.sort())
  expect(started[0]).toMatchObject({ turn: 1, kind: 'spawn', description: 'does a' })
  expect(made.bench.root.agents.list()).toEqual([made.bench.agent])
  expect(made.bench.root.sessions.list()).toEqual([made.bench.session])
  // Five agents, of which the parent was asked twice.
  expect(made.bench.agent.account.totals).toMatchObject({ steps: 6, toolCalls: 4 })
})

it('no more are started in one turn, nor at once, than may be; the next turn may again', async () => {
  const config = { maxDelegationsPerRun: 2 }
  await using made = await openFamily(
    family(() => say('ok'), 'a', 'b', 'c'),
    { config },
  )
  await made.ask('go')
  await made.ask('go')
  const codes = made.results().map(({ text }) => text.split(':')[0])
  expect(codes.toSorted()).toEqual(
    ['ok', 'ok', 'ok', 'ok', ...Array(2).fill('SUBAGENT_RUN_BUDGET_EXCEEDED')].toSorted(),
  )
  expect(await made.children()).toHaveLength(4)

  const agents = { maxConcurrentChildren: 1 }
  await using few = await openFamily(
    family(() => say('ok'), 'a', 'b'),
    { agents, config: { maxDelegationsPerRun: 1 } },
  )
  await few.ask('go')
  expect(few.results().map(({ text }) => text.split(':')[0])).toEqual([
    'ok',
    expect.stringMatching(/SUBAGENT_(RUN|CONCURRENT)_BUDGET_EXCEEDED/),
  ])
  expect(await few.children()).toHaveLength(1)
})

it('ends with its parent’s turn, and says so in its own log', async () => {
  const begun = Promise.withResolvers<void>()
  const child: Answer = (_last, _request, signal) => {
    begun.resolve()
    return hang(signal)
  }
  await using made = await openFamily(family(child, 'a'))
  const { agent, root } = made.bench
  await agent.send('go', { wake: false })
  const turn = agent.wake()
  await begun.promise
  await agent.cancel('enough')
  expect(await turn).toMatchObject({ reason: 'aborted' })
  const [result] = (await made.bench.facts()).filter(toolResult.is)
  expect(result?.data.error?.code).toMatch(/^(ABORTED|TOOL_OUTCOME_UNKNOWN)$/)
  await expect.poll(() => root.sessions.list()).toEqual([made.bench.session])
  const [summary] = await made.children()
  const session = await root.sessions.open(summary!.header.id, { mode: 'read' })
  const ends = []
  for await (const fact of session.read(0)) if (turnEnd.is(fact)) ends.push(fact.data)
  expect(ends).toMatchObject([{ reason: 'aborted' }])
  await session.close()
})

it('is stopped at its time limit', async () => {
  const child: Answer = (_last, _request, signal) => hang(signal)
  await using made = await openFamily(family(child, 'a'), { config: { timeoutMs: 20 } })
  await made.ask('go')
  expect(made.results()).toMatchObject([{ isError: true }])
  await expect.poll(() => made.bench.root.agents.list()).toEqual([made.bench.agent])
})

it('tells of a child that failed how it ended and what it said last, and goes on', async () => {
  const child: Answer = (last) => {
    if (last.role === 'tool') return say('unreachable')
    return [
      { type: 'text', text: 'I begin.' },
      ...call({ id: 'x', name: 'nothing', arguments: '{}' }),
    ]
  }
  await using made = await openFamily(family(child, 'a'), { config: { maxSteps: 1 } })
  expect(await made.ask('go')).toBe('Done.')
  const [{ text, isError } = { text: '', isError: false }] = made.results()
  expect(isError).toBe(true)
  expect(text).toMatch(
    /^SUBAGENT_FAILED: .*budget: BUDGET_EXCEEDED, .*maxSteps.*\nIt said last:\nI begin\.$/s,
  )
})

it('brings no more of a long report into the conversation than of any result', async () => {
  const report = `begin ${'long '.repeat(200_000)}end`
  await using made = await openFamily(family(() => say(report), 'a'))
  await made.ask('go')
  const [{ text } = { text: '' }] = made.results()
  expect(text.length).toBeLessThan(31_000)
  expect(text).toMatch(/^begin [^]*Characters were left out[^]*end$/)
  const [result] = (await made.bench.facts()).filter(toolResult.is)
  const { blob } = result?.data.truncated ?? {}
  const whole = await made.bench.session.getBlob(blob?.hash ?? '')
  expect(Buffer.from(whole).toString()).toBe(report)
})

it('has no more authority than its parent, and asks a person only where that is configured', async () => {
  const touch = defineTool({
    name: 'touch',
    description: 'Writes a file elsewhere.',
    parameters: z.strictObject({}),
    effects: () => [{ kind: 'fs:write', path: '/elsewhere' }],
    execute: async () => 'written',
  })
  const child: Answer = (last) => {
    if (last.role === 'tool') return say(heard(last))
    return call({ id: 'x', name: 'touch', arguments: '{}' })
  }
  const asked: string[] = []
  const person = definePlugin({
    name: 'person',
    inject: ['approvals'],
    apply: (ctx) => {
      ctx.approvals.answerer(ctx, async ({ actor }) => {
        asked.push(actor.sessionId)
        return { outcome: 'allowed', by: 'person' }
      })
    },
  })
  const open = async (approvals: string) => {
    const made = await openFamily(family(child, 'a'), {
      config: { approvals },
      rows: [{ plugin: person }],
      tools: (add) => add(touch),
    })
    made.bench.agent.authority = { mode: 'workspace-write', writableRoots: ['/project'] }
    await made.ask('go')
    return made
  }
  await using refused = await open('refuse')
  expect(asked).toEqual([])
  expect(refused.bench.requests.at(-2)?.messages.at(-1)?.message.content).toMatchObject([
    {
      isError: true,
      content: [{ text: expect.stringMatching(/^TOOL_DENIED: .*a child asks nobody/) }],
    },
  ])
  await using allowed = await open('ask')
  expect(asked).toHaveLength(1)
  expect(asked).not.toContain(allowed.bench.session.id)

  const readOnly = await openFamily(family(() => say('ok'), 'a'))
  readOnly.bench.agent.authority = { mode: 'read-only', writableRoots: [] }
  await readOnly.ask('go')
  expect(readOnly.results()).toMatchObject([{ text: expect.stringMatching(/^TOOL_DENIED/) }])
  await readOnly[Symbol.asyncDispose]()
})

it('leaves no session of a child that could not be started', async () => {
  let broken = false
  const presets = {
    names: () => ['p'],
    default: 'p',
    describe: () => [],
    mount: async () => {
      if (broken) throw new TypeError('a row of the preset failed')
      return { rows: [] }
    },
  }
  const row = definePlugin({
    name: 'test-presets',
    provides: ['presets'],
    apply: (ctx) => own(ctx, 'presets', presets),
  })
  const answer: Answer = (last) => {
    if (isTask(last, 'a')) return say('ok')
    if (heard(last) === 'ok') return say('Done.')
    // The one that failed does not count.
    broken = last.role !== 'tool'
    return delegate('subagent', 'a')
  }
  const config = { maxDelegationsPerRun: 1 }
  await using made = await openFamily(answer, { rows: [{ plugin: row }], config })
  const before = footprint(made.bench.root)
  expect(await made.ask('go')).toBe('Done.')
  expect(made.results()).toMatchObject([
    { text: expect.stringMatching(/^TOOL_FAILED/) },
    { text: 'ok' },
  ])
  expect(await made.children()).toHaveLength(1)
  expect(made.bench.root.sessions.list()).toEqual([made.bench.session])
  expect(footprint(made.bench.root)).toEqual(before)
})

it('leaves nothing behind when its row is gone', async () => {
  await using made = await openFamily(() => say('ok'))
  const { root } = made.bench
  const before = footprint(root)
  const { scope } = made.bench.agent
  const again = mount(scope.ctx, {
    id: subagent.name,
    plugin: subagent,
    config: {},
    timeoutMs: 2_000,
  })
  expect(await again.settled()).toMatchObject({ state: 'active' })
  await again.dispose()
  expect(footprint(root)).toEqual(before)
})
