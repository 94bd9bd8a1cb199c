import { afterEach, expect, it } from 'vitest'
import { createRoot, definePlugin, mount, own, type AnyPlugin } from '@cordage/core/kernel'
import type { Loop } from '@cordage/core/agent'
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
async function start(loop?: Loop) {
  const root = createRoot({ log: () => {} })
  const row = async (id: string, plugin: AnyPlugin) => {
    const mounted = mount(root, { id, plugin, config: {}, timeoutMs: 2_000 })
    expect(await mounted.settled()).toEqual({ state: 'active' })
    undo.push(() => mounted.dispose())
    return mounted
  }
  for (const plugin of [memory, sessions, ledger]) await row(plugin.name, plugin)
  const agentRow = await row('core-agent', agents)
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
