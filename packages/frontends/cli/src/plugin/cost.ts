import type { RowReport } from '@cordage/core/compose'
import { openScope, type RootContext } from '@cordage/core/kernel'
import { estimateTool } from '@cordage/core/model'
import type { Store } from '@cordage/core/store'

/** How many sessions the bytes of the log are counted in. */
export const COUNTED_SESSIONS = 20

/** What the rows of an agent cost, by row. */
export interface AgentCost {
  readonly reports: readonly RowReport[]
  /** Estimated tokens of tools and prompt parts in each request. */
  readonly tokens: ReadonlyMap<string, number>
  /** The row of each tool. */
  readonly tools: ReadonlyMap<string, string>
}

/** Mounts the default preset in a scope of its own and asks it what a request would hold. */
export async function measureAgent(ctx: RootContext, place: { cwd: string }): Promise<AgentCost> {
  const scope = openScope(ctx, 'cordage plugin list')
  try {
    const preset = ctx.presets.default
    const { rows: reports } = preset === '' ? { rows: [] } : await ctx.presets.mount(scope, preset)
    const { provider = '', model = '', info } = ctx.get('models')?.default() ?? {}
    const set = ctx
      .get('tools')
      ?.resolve(scope, { provider, model, input: info?.input ?? ['text'] })
    const tokens = new Map<string, number>()
    const add = (row: string, count: number) => tokens.set(row, (tokens.get(row) ?? 0) + count)
    for (const spec of set?.specs ?? []) add(set?.rows.get(spec.name) ?? '', estimateTool(spec))
    const prompt = await ctx.get('prompt')?.assemble(scope, {
      sessionId: 'none',
      project: place.cwd,
      cwd: place.cwd,
      provider,
      model,
      turn: 1,
      step: 1,
      toolNames: set?.specs.map(({ name }) => name) ?? [],
      signal: AbortSignal.timeout(5_000),
    })
    for (const part of [...(prompt?.sections ?? []), ...(prompt?.contexts ?? [])]) {
      add(part.row, part.tokens)
    }
    return { reports, tokens, tools: set?.rows ?? new Map() }
  } finally {
    await scope.close()
  }
}

/**
 * Bytes of JSON that plugins put into the latest sessions: facts of their own types, which start
 * with the package's name, and calls of their tools with the results.
 */
export async function measureLogs(
  store: Store,
  plugins: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<Map<string, number>> {
  const bytes = new Map<string, number>()
  for (const { header, damaged } of await store.list({ limit: COUNTED_SESSIONS })) {
    if (damaged !== undefined) continue
    const log = await store.open(header.id, { mode: 'read' })
    const calls = new Map<string, string>()
    for await (const fact of log.read(0)) {
      const owner = ownerOf(fact, plugins, calls)
      if (owner === undefined) continue
      const size = Buffer.byteLength(JSON.stringify(fact.data))
      bytes.set(owner, (bytes.get(owner) ?? 0) + size)
    }
    await log.close()
  }
  return bytes
}

function ownerOf(
  { type, data }: { type: string; data: unknown },
  plugins: ReadonlyMap<string, ReadonlySet<string>>,
  calls: Map<string, string>,
): string | undefined {
  if (type !== 'tool/call' && type !== 'tool/result') {
    return [...plugins.keys()].find((name) => type.startsWith(`${name}/`))
  }
  const { callId = '', name = '' } = data as { callId?: string; name?: string }
  if (type === 'tool/result') return calls.get(callId)
  const owner = [...plugins].find(([, tools]) => tools.has(name))?.[0]
  if (owner !== undefined) calls.set(callId, owner)
  return owner
}
