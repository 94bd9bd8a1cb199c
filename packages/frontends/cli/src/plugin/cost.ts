import { inspectPlace, type Finding } from '@cordage/core/agent'
import type { RowReport } from '@cordage/core/compose'
import { projectOf } from '@cordage/core/environment'
import { isHarnessError } from '@cordage/core/error'
import { openScope, type RootContext, type Scope } from '@cordage/core/kernel'
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
  /** The row that keeps the prompt from being written, and with it every run. */
  readonly failing?: { readonly id: string; readonly reason: string }
  /** Files of the place that are not used as they seem meant: skills, instructions. */
  readonly findings: readonly Finding[]
}

/** Mounts the default preset in a scope of its own and asks it what a request would hold. */
export async function measureAgent(ctx: RootContext, { cwd }: { cwd: string }): Promise<AgentCost> {
  const scope = openScope(ctx, 'cordage, to look at it')
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
    const findings = await findingsIn(ctx, scope, cwd)
    const found = { reports, tokens, tools: set?.rows ?? new Map<string, string>(), findings }
    const toolNames = set?.specs.map(({ name }) => name) ?? []
    const place = { project: cwd, cwd, provider, model }
    const input = {
      sessionId: 'none',
      turn: 1,
      step: 1,
      toolNames,
      signal: AbortSignal.timeout(5_000),
    }
    try {
      const prompt = await ctx.get('prompt')?.assemble(scope, { ...place, ...input })
      for (const part of [...(prompt?.sections ?? []), ...(prompt?.contexts ?? [])]) {
        add(part.row, part.tokens)
      }
    } catch (error) {
      return { ...found, failing: failingRow(error) }
    }
    return found
  } finally {
    await scope.close()
  }
}

async function findingsIn(
  ctx: RootContext,
  scope: Scope,
  cwd: string,
): Promise<readonly Finding[]> {
  const [fs, policy] = [ctx.get('fs'), ctx.get('policy')]
  if (!fs || !policy) return []
  const project = await projectOf(fs, cwd)
  const authority = { mode: 'read-only', writableRoots: [] } as const
  const actor = { sessionId: 'none', agentId: 'none', authority, scope, project }
  const mayRead = (path: string) => {
    return policy.decide({ kind: 'fs:read', path }, actor).answer === 'allow'
  }
  return inspectPlace.run(ctx, { project, mayRead }, () => [], scope)
}

/** Throws `error` again where no row is to blame. */
function failingRow(error: unknown): { id: string; reason: string } {
  if (!isHarnessError(error, 'PROMPT_FAILED')) throw error
  return { id: String(error.details['row']), reason: error.message }
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
