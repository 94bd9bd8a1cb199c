import { assert, openScope, type Context, type PluginContext, type Scope } from '../kernel/index.ts'
import { intersect } from '../policy/index.ts'
import type { Session } from '../session/index.ts'
import type { Agent, SpawnOptions } from './agent.ts'
import { createAgent } from './create-agent.ts'
import { agentError } from './errors.ts'

export interface OpenAgentOptions extends SpawnOptions {
  readonly ctx: PluginContext<'ledger'>
  readonly session: Session
  readonly closeChildren: (agent: Agent) => Promise<void>
  /** Filled with what people should know of it. */
  readonly notices: string[]
}

/** Gives a session its scope with the preset in it, an account, and what it may do. */
export async function openAgent(options: OpenAgentOptions): Promise<Agent> {
  const { ctx, session, parent, choice, limits, closeChildren, notices } = options
  const { depth } = session.header
  assert(
    !parent || depth > parent.session.header.depth,
    `session ${session.id} of a child of ${parent?.id} is not deeper than its parent's: ${depth}`,
  )
  const presets = ctx.get('presets')
  const preset = options.preset ?? session.header.preset ?? presets?.default ?? ''
  if (preset !== '' && !presets) throw agentError('PRESETS_MISSING', { preset })

  const scope = openScope(ctx, `agent ${session.id}`, parent?.scope)
  notices.push(...(await prepare(ctx, scope, session, preset)))
  const authority = parent ? intersect(parent.authority, options.authority) : options.authority
  const account = ctx.ledger.open(session.id, {
    ...(parent ? { parent: parent.account } : {}),
    ...(limits ? { limits } : {}),
  })
  const onClose = () => closeChildren(agent)
  const parts = { ctx, session, scope, preset, account, authority, choice, parent, notices }
  const agent = createAgent({ ...parts, onClose })
  return agent
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
