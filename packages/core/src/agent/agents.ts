import {
  defineNotice,
  openScope,
  type Context,
  type PluginContext,
  type Scope,
} from '../kernel/index.ts'
import { intersect } from '../policy/index.ts'
import type { Session } from '../session/index.ts'
import type { Agent, Agents, SpawnOptions } from './agent.ts'
import { createAgent } from './create-agent.ts'
import { agentError } from './errors.ts'

const spawned = defineNotice<Agent>('agent/spawned')

/** Keeps the agents of this process; `close` ends children before their parents. */
export function createAgents(ctx: PluginContext<'ledger'>): Agents & { close(): Promise<void> } {
  const agents = new Map<string, Agent>()
  const spawning = new Map<string, Promise<Agent>>()
  let closed = false

  const spawn = async (options: SpawnOptions): Promise<Agent> => {
    const { id } = options.session
    if (closed) throw agentError('AGENT_CLOSED', { id })
    if (agents.has(id) || spawning.has(id)) throw agentError('AGENT_EXISTS', { id })
    const task = open(options)
    spawning.set(id, task)
    try {
      return await task
    } finally {
      spawning.delete(id)
    }
  }

  const open = async (options: SpawnOptions): Promise<Agent> => {
    const { session, parent } = options
    const presets = ctx.get('presets')
    const preset = options.preset ?? session.header.preset ?? presets?.default ?? ''
    if (preset !== '' && !presets) throw agentError('PRESETS_MISSING', { preset })

    const scope = openScope(ctx, `agent ${session.id}`, parent?.scope)
    const notices = await prepare(ctx, scope, session, preset)
    const authority = parent ? intersect(parent.authority, options.authority) : options.authority
    const account = ctx.ledger.open(session.id, {
      ...(parent ? { parent: parent.account } : {}),
      ...(options.limits ? { limits: options.limits } : {}),
    })
    const onClose = async () => {
      agents.delete(session.id)
      await closeNewestFirst([...agents.values()].filter((other) => other.parent === agent))
    }
    const { choice } = options
    const agent: Agent = createAgent({
      ctx,
      session,
      scope,
      preset,
      account,
      authority,
      choice,
      parent,
      notices,
      onClose,
    })
    agents.set(session.id, agent)
    spawned.emit(ctx, agent)
    return agent
  }

  return {
    spawn,
    get: (id) => agents.get(id),
    list: () => [...agents.values()],
    onSpawn: (caller, listener) => void spawned.use(caller, listener),
    async close() {
      closed = true
      await Promise.allSettled(spawning.values())
      await closeNewestFirst([...agents.values()])
    },
  }
}

/** Mounts the preset and mends the session; resolves with what of the preset is not active. */
async function prepare(
  ctx: Context,
  scope: Scope,
  session: Session,
  preset: string,
): Promise<string[]> {
  try {
    const rows = preset === '' ? [] : ((await ctx.get('presets')?.mount(scope, preset))?.rows ?? [])
    if (session.writable) await session.repair()
    return rows
      .filter(({ state }) => state !== 'active' && state !== 'disabled')
      .map(({ id, state, reason }) => `row ${id} of preset ${preset} is ${state}: ${reason}`)
  } catch (error) {
    await scope.close()
    throw error
  }
}

async function closeNewestFirst(agents: readonly Agent[]): Promise<void> {
  for (const agent of [...agents].reverse()) await agent.close()
}
