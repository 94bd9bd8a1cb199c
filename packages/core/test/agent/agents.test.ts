import { afterEach, expect, it } from 'vitest'
import { createRoot, definePlugin, mount, own, type AnyPlugin } from '@cordage/core/kernel'
import type { Agent, Loop } from '@cordage/core/agent'
import agents from '../../src/agent/index.ts'
import ledger from '../../src/ledger/index.ts'
import sessions from '../../src/store/index.ts'
import memory from '../../../stores/memory/src/index.ts'

const choice = { model: 'test/model', params: {} }
const authority = { mode: 'full-access', writableRoots: [] } as const
const undo: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const dispose of undo.splice(0).reverse()) await dispose()
})

/** Agents over a store in memory, with the loop that is given, if any. */
async function start(loop?: Loop, limits: Record<string, number> = {}) {
  const root = createRoot({ log: () => {} })
  const row = async (id: string, plugin: AnyPlugin, config = {}) => {
    const mounted = mount(root, { id, plugin, config, timeoutMs: 2_000 })
    expect(await mounted.settled()).toEqual({ state: 'active' })
    undo.push(() => mounted.dispose())
    return mounted
  }
  for (const plugin of [memory, sessions, ledger]) await row(plugin.name, plugin)
  const agentRow = await row('core-agent', agents, limits)
  if (loop) {
    const provides = ['loop'] as const
    const apply = (ctx: Parameters<typeof own>[0]) => own(ctx, 'loop', loop)
    await row('loop', definePlugin({ name: 'loop', provides, apply }))
  }
  const session = await root.sessions.create({ project: '/p', depth: 0 })
  return { root, agentRow, session, spawn: () => root.agents.spawn({ session, choice, authority }) }
}

it('tells the sender that nothing runs turns, and keeps the message', async () => {
  const { spawn, session } = await start()
  const agent = await spawn()
  await expect(agent.send('hello')).rejects.toMatchObject({ code: 'LOOP_MISSING' })
  await expect(agent.wake()).rejects.toMatchObject({ code: 'LOOP_MISSING' })
  expect(session.inbox).toHaveLength(1)
})

it('makes an outcome of what a loop throws, and goes on', async () => {
  const { spawn } = await start({
    runTurn: async () => {
      throw new TypeError('broken')
    },
  })
  const agent = await spawn()
  await agent.send('hello')
  expect(await agent.wake()).toMatchObject({ reason: 'error', error: { code: 'INTERNAL' } })
  expect(agent.status).toEqual({ kind: 'idle' })
})

it('gives a session one agent, also to two who ask at once', async () => {
  const { root, spawn } = await start()
  const [first, second] = await Promise.allSettled([spawn(), spawn()])
  expect(first.status).toBe('fulfilled')
  expect(second).toMatchObject({ reason: { code: 'AGENT_EXISTS' } })
  expect(root.agents.list()).toHaveLength(1)
})

it('closes the children of an agent before the agent, whatever they do', async () => {
  const { root, spawn } = await start({
    runTurn: (_agent, { signal }) =>
      new Promise((resolve) => {
        const end = () => resolve({ turn: 1, reason: 'aborted' })
        signal.addEventListener('abort', end, { once: true })
      }),
  })
  const parent = await spawn()
  const session = await root.sessions.create({ project: '/p', depth: 1 })
  const child = await root.agents.spawn({ session, choice, authority, parent })
  await child.send('hello')
  const turn = child.wake()
  await parent.close()
  expect(await turn).toMatchObject({ reason: 'aborted' })
  expect([root.agents.list(), root.sessions.list()]).toEqual([[], []])
})

it('closes the session of an agent that was being made when its row unloaded', async () => {
  const { root, agentRow, session, spawn } = await start()
  const repaired = Promise.withResolvers<void>()
  session.repair = () => repaired.promise
  const spawning = spawn()
  const unloaded = agentRow.dispose()
  setTimeout(repaired.resolve, 50)
  await Promise.all([spawning, unloaded])
  expect(root.sessions.list()).toEqual([])
})

it('starts no child that is too deep, however its parent came to be', async () => {
  const { root, spawn } = await start(undefined, { maxDepth: 2 })
  const made: string[] = []
  const child = (parent: Agent) =>
    root.agents.spawn({
      session: async () => {
        const depth = parent.session.header.depth + 1
        const session = await root.sessions.create({ project: '/p', depth })
        made.push(session.id)
        return session
      },
      choice,
      authority,
      parent,
    })
  const first = await child(await spawn())
  const second = await child(first)
  const refused = { code: 'SUBAGENT_DEPTH_EXCEEDED', details: { depth: 3, maxDepth: 2 } }
  await expect(child(second)).rejects.toMatchObject(refused)
  await second.close()
  const resumed = await root.agents.spawn({
    session: await root.sessions.open(second.id),
    choice,
    authority,
  })
  await expect(child(resumed)).rejects.toMatchObject(refused)
  expect(made).toEqual([first.id, second.id])
})

it('starts exactly as many children of a tree as may run, also when more ask at once', async () => {
  const { root, spawn } = await start(undefined, { maxDepth: 2, maxConcurrentChildren: 3 })
  const parent = await spawn()
  const child = (of: Agent) => {
    const depth = of.session.header.depth + 1
    const session = () => root.sessions.create({ project: '/p', depth })
    return root.agents.spawn({ session, choice, authority, parent: of })
  }
  const first = await child(parent)
  const others = await Promise.allSettled([parent, first, parent, first].map(child))
  const started = others.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  expect(started).toHaveLength(2)
  expect(others.at(-1)).toMatchObject({ reason: { code: 'SUBAGENT_CONCURRENT_BUDGET_EXCEEDED' } })
  await started[0]?.close()
  await expect(child(parent)).resolves.toMatchObject({ parent })
  const broken = root.agents.spawn({
    session: () => Promise.reject(new TypeError('no session')),
    choice,
    authority,
    parent,
  })
  await expect(broken).rejects.toMatchObject({ code: 'SUBAGENT_CONCURRENT_BUDGET_EXCEEDED' })
  await started[1]?.close()
  const failing = { choice, authority, parent, session: () => Promise.reject(new TypeError('no')) }
  await expect(root.agents.spawn(failing)).rejects.toThrow('no')
  await expect(child(parent)).resolves.toMatchObject({ parent })
  const other = await root.sessions.create({ project: '/p', depth: 0 })
  const apart = await root.agents.spawn({ session: other, choice, authority })
  await expect(child(apart)).resolves.toMatchObject({ parent: apart })
})

it('takes from a child at once what is taken from its parent, and gives it nothing', async () => {
  const { root, spawn } = await start(undefined, { maxDepth: 2 })
  const parent = await spawn()
  const child = async (of: Agent) => {
    const depth = of.session.header.depth + 1
    const session = await root.sessions.create({ project: '/p', depth })
    const own = { mode: 'workspace-write', writableRoots: ['/p'] } as const
    return root.agents.spawn({ session, choice, authority: own, parent: of })
  }
  const first = await child(parent)
  const second = await child(first)
  const modes = () => [first, second].map((agent) => agent.authority.mode)
  expect(modes()).toEqual(['workspace-write', 'workspace-write'])
  parent.authority = { mode: 'workspace-write', writableRoots: ['/p/inner'] }
  expect(second.authority.writableRoots).toEqual(['/p/inner'])
  parent.authority = { mode: 'read-only', writableRoots: [] }
  expect(modes()).toEqual(['read-only', 'read-only'])
  second.authority = { mode: 'full-access', writableRoots: [] }
  expect(modes()).toEqual(['read-only', 'read-only'])
  parent.authority = authority
  expect(modes()).toEqual(['workspace-write', 'workspace-write'])
})

it('closes a child that was being started when its parent closed', async () => {
  const { root, spawn } = await start()
  const parent = await spawn()
  const asked = Promise.withResolvers<void>()
  const starting = root.agents.spawn({
    session: async () => {
      await asked.promise
      return root.sessions.create({ project: '/p', depth: 1 })
    },
    choice,
    authority,
    parent,
  })
  const closed = parent.close()
  asked.resolve()
  const child = await starting
  await closed
  expect([root.agents.list(), root.sessions.list()]).toEqual([[], []])
  await expect(child.send('hello')).rejects.toMatchObject({ code: 'AGENT_CLOSED' })
  const late = root.agents.spawn({ session: child.session, choice, authority, parent })
  await expect(late).rejects.toMatchObject({ code: 'AGENT_CLOSED' })
})

it('is ready only when those who prepare it are, and starts without one that fails', async () => {
  const { root, spawn } = await start()
  const done: string[] = []
  const prepare = definePlugin({
    name: 'prepare',
    inject: ['agents'],
    apply(ctx) {
      ctx.agents.onSpawn(ctx, () => Promise.reject(new TypeError('broken')))
      ctx.agents.onSpawn(ctx, async () => {
        await new Promise((resolve) => setImmediate(resolve))
        done.push('prepared')
        return ['a skill is malformed']
      })
    },
  })
  const row = mount(root, { id: 'prepare', plugin: prepare, config: {}, timeoutMs: 2_000 })
  expect(await row.settled()).toEqual({ state: 'active' })
  const agent = await spawn()
  expect(done).toEqual(['prepared'])
  expect(agent.notices).toEqual(['a skill is malformed'])
  await row.dispose()
})
