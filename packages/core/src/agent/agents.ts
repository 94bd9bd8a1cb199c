import {
  defineHook,
  describeFailure,
  log,
  type Context,
  type PluginContext,
} from '../kernel/index.ts'
import type { Agent, Agents, SpawnListener, SpawnOptions } from './agent.ts'
import { admitChild, type ChildLimits } from './children.ts'
import { agentError } from './errors.ts'
import { openAgent } from './open-agent.ts'

const spawned = defineHook<Agent, readonly string[]>('agent/spawned')

/** Keeps the agents of this process; `close` ends children before their parents. */
export function createAgents(
  ctx: PluginContext<'ledger'>,
  limits: ChildLimits,
): Agents & { close(): Promise<void> } {
  const agents = new Map<string, Agent>()
  const starting = new Map<SpawnOptions, Promise<Agent>>()
  const taken = new Set<string>()
  let closed = false

  const spawn = async (given: SpawnOptions): Promise<Agent> => {
    const options = { ...given }
    admit(options)
    const task = open(options)
    starting.set(options, task)
    try {
      return await task
    } finally {
      starting.delete(options)
    }
  }

  const admit = ({ session, parent }: SpawnOptions): void => {
    const id = typeof session === 'function' ? (parent?.id ?? 'new') : session.id
    if (closed) throw agentError('AGENT_CLOSED', { id })
    if (!parent) return
    if (agents.get(parent.id) !== parent) throw agentError('AGENT_CLOSED', { id: parent.id })
    const beginning = [...starting.keys()].flatMap((one) => one.parent ?? [])
    admitChild(parent, { running: [...agents.values()], beginning }, limits)
  }

  const open = async (options: SpawnOptions): Promise<Agent> => {
    const session =
      typeof options.session === 'function' ? await options.session() : options.session
    const { id } = session
    if (agents.has(id) || taken.has(id)) throw agentError('AGENT_EXISTS', { id })
    taken.add(id)
    try {
      const notices: string[] = []
      const agent = await openAgent({ ...options, ctx, session, closeChildren, notices })
      agents.set(id, agent)
      starting.delete(options)
      notices.push(...(await spawned.run(ctx, agent, () => [], agent.scope)))
      return agent
    } finally {
      taken.delete(id)
    }
  }

  const closeChildren = async (agent: Agent): Promise<void> => {
    agents.delete(agent.id)
    // One that is being started would outlive its parent unseen.
    const begun = [...starting].filter(([options]) => options.parent === agent)
    await Promise.allSettled(begun.map(([, task]) => task))
    await closeNewestFirst([...agents.values()].filter((other) => other.parent === agent))
  }

  return {
    maxDepth: limits.maxDepth,
    spawn,
    get: (id) => agents.get(id),
    list: () => [...agents.values()],
    onSpawn,
    async close() {
      closed = true
      await Promise.allSettled(starting.values())
      await closeNewestFirst([...agents.values()])
    },
  }
}

/** What a listener throws is logged: an agent starts without it. */
function onSpawn(ctx: Context, listener: SpawnListener): void {
  const hear = async (agent: Agent) => {
    try {
      return (await listener(agent)) ?? []
    } catch (error) {
      log(ctx, 'error', 'a listener of agent/spawned failed', { error: describeFailure(error) })
      return []
    }
  }
  spawned.use(ctx, async (agent, next) => [...(await hear(agent)), ...(await next())])
}

async function closeNewestFirst(agents: readonly Agent[]): Promise<void> {
  for (const agent of [...agents].reverse()) await agent.close()
}
