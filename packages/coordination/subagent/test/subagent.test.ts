import { toolCallsOf, textOf } from '@cordage/core/message'
import type { ModelRequest } from '@cordage/core/model'
import { sessionDirectory, type Fact, type Session } from '@cordage/core/session'
import { describe, expect, it } from 'vitest'
import { say } from '../../../core/test/loop/boot.ts'
import { delegate, heard, isTask, openFamily, stores, type Answer } from './family.ts'

const texts = ({ messages }: ModelRequest) => messages.map(({ message }) => textOf(message))

async function factsOf(session: Session): Promise<Fact[]> {
  const facts: Fact[] = []
  for await (const fact of session.read(0)) facts.push(fact)
  return facts
}

/** Every call has its result right behind the answer that asked for it. */
function expectPaired({ messages }: ModelRequest): void {
  const open = new Set<string>()
  for (const { message } of messages) {
    for (const part of message.content) if (part.type === 'tool-result') open.delete(part.callId)
    if (message.role !== 'tool') expect([...open]).toEqual([])
    for (const { id } of toolCallsOf(message)) open.add(id)
  }
  expect([...open]).toEqual([])
}

/** A first turn with a call of its own, then one in which a child is asked. */
const plain =
  (name: 'subagent' | 'subagent_fork'): Answer =>
  (last) => {
    if (isTask(last, 'look')) return say('All is well.')
    if (last.role === 'tool') return say(`It said: ${heard(last)}`)
    if (textOf(last) === 'delegate') return delegate(name, 'look')
    return say(`to ${textOf(last)}`)
  }

describe.each(stores)('over %s', (store) => {
  it('a fork begins with what its parent had before the turn, and reports to it', async () => {
    await using family = await openFamily(plain('subagent_fork'), { store })
    const { bench } = family
    await family.ask('one')
    await family.ask('two')
    const before = bench.session.nextSeq
    expect(await family.ask('delegate')).toBe('It said: All is well.')
    expect(family.results()).toEqual([{ text: 'All is well.', isError: false }])

    const [first, second, third, child] = bench.requests
    expect(texts(child!).slice(0, -1)).toEqual(['one', 'to one', 'two', 'to two'])
    expect(texts(child!).at(-1)).toMatch(/^From here on you are a child .*\n\nlook$/)
    expectPaired(child!)
    const [summary, ...others] = await family.children()
    expect(others).toEqual([])
    expect(summary).toMatchObject({
      title: 'does look',
      header: { depth: 1, project: '/project', parent: { id: bench.session.id, kind: 'fork' } },
    })
    // The message that waits is a fact before the turn begins.
    expect(summary?.header.parent?.seq).toBe(before + 1)
    expect(bench.root.agents.list()).toEqual([bench.agent])

    const fixed = ({ tools, params, provider, model }: ModelRequest) =>
      JSON.stringify({ tools, params, provider, model })
    const bytes = (request: ModelRequest, count: number) =>
      JSON.stringify(request.messages.slice(0, count))
    expect(fixed(child!)).toBe(fixed(third!))
    expect(third?.messages).toHaveLength(5)
    expect(bytes(child!, 4)).toBe(bytes(third!, 4))
    expect(bytes(child!, 3)).toBe(bytes(second!, 3))
    expect(bytes(child!, 1)).toBe(bytes(first!, 1))
  })

  it('a fork in the first turn begins with nothing', async () => {
    await using family = await openFamily(plain('subagent_fork'), { store })
    await family.ask('delegate')
    expect(texts(family.bench.requests[1]!)).toEqual([expect.stringMatching(/\n\nlook$/)])
    expect(family.results()).toMatchObject([{ text: 'All is well.' }])
  })

  it('a child without history begins with its task, and starts no other', async () => {
    await using family = await openFamily(plain('subagent'), { store })
    const { bench } = family
    await family.ask('one')
    await family.ask('delegate')
    const child = bench.requests[2]!
    expect(texts(child)).toEqual([expect.stringMatching(/^You are the child .*\n\nlook$/)])
    expect(child.tools).toEqual([])
    expect(bench.requests[1]!.tools.map(({ name }) => name)).toEqual(['subagent', 'subagent_fork'])
    const [summary] = await family.children()
    const parent = { id: bench.session.id, kind: 'spawn' }
    expect(summary).toMatchObject({ header: { depth: 1, parent } })
    // Resumed by a person it is offered no more than before.
    const resumed = await bench.root.agents.spawn({
      session: await bench.root.sessions.open(summary!.header.id),
      choice: bench.agent.choice,
      authority: bench.agent.authority,
    })
    await resumed.send('go on', { wake: false })
    await resumed.wake()
    expect(bench.requests.at(-1)!.tools).toEqual([])
    await resumed.close()
  })

  it('a child is where its parent is now, not where the history was', async () => {
    await using family = await openFamily(plain('subagent_fork'), { store })
    const { bench } = family
    await family.ask('one')
    const seen = () => family.children().then(([child]) => child!.header.id)
    await bench.session.append([sessionDirectory({ cwd: '/project/inner' })])
    await family.ask('delegate')
    const fork = await bench.root.sessions.open(await seen(), { mode: 'read' })
    expect(fork.cwd).toBe('/project/inner')
    await fork.close()
    await using fresh = await openFamily(plain('subagent'), { store })
    await fresh.bench.session.append([sessionDirectory({ cwd: '/project/inner' })])
    await fresh.ask('delegate')
    const [child] = await fresh.children()
    const spawned = await fresh.bench.root.sessions.open(child!.header.id, { mode: 'read' })
    expect(spawned.cwd).toBe('/project/inner')
    await spawned.close()
  })

  it('a fork of a fork has what both had, each before its own turn', async () => {
    const answer: Answer = (last) => {
      if (isTask(last, 'inner')) return say('Inside.')
      if (isTask(last, 'outer')) return delegate('subagent_fork', 'inner')
      if (textOf(last) === 'delegate') return delegate('subagent_fork', 'outer')
      if (last.role === 'tool') return say(`to ${heard(last)}`)
      return say(`to ${textOf(last)}`)
    }
    await using family = await openFamily(answer, { store, agents: { maxDepth: 2 } })
    const { bench } = family
    await family.ask('one')
    await family.ask('delegate')
    const [inner] = bench.requests.filter(({ messages }) =>
      isTask(messages.at(-1)!.message, 'inner'),
    )
    expect(texts(inner!).slice(0, -1)).toEqual(['one', 'to one'])
    const children = await family.children()
    expect(children.map(({ header }) => header.depth).sort()).toEqual([1, 2])
    const [outer] = children.filter(({ header }) => header.depth === 1)
    const [deep] = children.filter(({ header }) => header.depth === 2)
    expect(deep?.header.parent?.id).toBe(outer?.header.id)
    expect(family.results()).toMatchObject([{ text: 'to Inside.' }])
  })

  it('forks of one answer begin alike, while their parent writes', async () => {
    const tasks = ['a', 'b', 'c', 'd', 'e']
    const answer: Answer = (last) => {
      const task = tasks.find((one) => isTask(last, one))
      if (task) return say(`report ${task}`)
      if (textOf(last) === 'delegate') return delegate('subagent_fork', ...tasks)
      return say('Done.')
    }
    await using family = await openFamily(answer, { store })
    await family.ask('one')
    await family.ask('delegate')
    expect(family.results().map(({ text }) => text)).toEqual(tasks.map((task) => `report ${task}`))
    const beginnings = family.bench.requests
      .filter(({ messages }) => tasks.some((task) => isTask(messages.at(-1)!.message, task)))
      .map(({ messages }) => JSON.stringify(messages.slice(0, -1)))
    expect(beginnings).toHaveLength(5)
    expect(new Set(beginnings).size).toBe(1)
    expect(new Set((await family.children()).map(({ header }) => header.parent?.seq)).size).toBe(1)
  })

  it('each of both is readable when the other is deleted', async () => {
    await using family = await openFamily(plain('subagent_fork'), { store })
    const { bench } = family
    const { sessions } = bench.root
    await family.ask('one')
    await family.ask('delegate')
    await family.ask('delegate')
    const [late, early] = (await family.children()).map(({ header }) => header.id)
    const own = await factsOf(bench.session)
    await bench.root.store.delete(late!)
    expect(await factsOf(bench.session)).toEqual(own)
    await expect(bench.root.store.delete(bench.session.id)).rejects.toMatchObject({
      code: 'SESSION_BUSY',
    })
    await bench.agent.close()
    await bench.root.store.delete(bench.session.id)
    const child = await sessions.open(early!)
    const facts = await factsOf(child)
    expect(facts.slice(0, child.header.parent?.seq)).toEqual(own.slice(0, child.header.parent?.seq))
    expect(child.surface.map(({ message }) => textOf(message)).at(-1)).toBe('All is well.')
    await child.close()
  })
})
