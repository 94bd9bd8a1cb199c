import '@cordage/core/environment'
import {
  createRoot,
  definePlugin,
  mount,
  openScope,
  own,
  type AnyPlugin,
  type Mounted,
  type RootContext,
} from '@cordage/core/kernel'
import ledger from '@cordage/core/ledger'
import type { ToolCallPart } from '@cordage/core/message'
import policy, { type Authority } from '@cordage/core/policy'
import { toolResult, type Session } from '@cordage/core/session'
import sessions from '@cordage/core/store'
import tools, {
  createSeenFiles,
  resultNotice,
  runBatch,
  turnClock,
  type ToolContent,
} from '@cordage/core/tool'
import environment from '@cordage/env-local'
import store from '@cordage/store-memory'
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface ToolBenchOptions {
  /** Rows of the tools under test, by id. */
  readonly rows: Readonly<Record<string, AnyPlugin>>
  /** Configurations of these rows, by id. */
  readonly config?: Readonly<Record<string, unknown>>
  /** Default: `workspace-write` in the project. */
  readonly mode?: Authority['mode']
  readonly env?: Readonly<Record<string, string>>
}

export interface AskedCall {
  readonly name: string
  readonly args: unknown
}

/** What the log says of one call. */
export interface ToolAnswer {
  readonly isError: boolean
  /** The text parts of what the model sees. */
  readonly text: string
  readonly content: readonly ToolContent[]
  readonly value: unknown
  readonly code: string | undefined
}

/** Tools as a session runs them: the real pipeline, policy, files and processes. */
export interface ToolBench extends AsyncDisposable {
  readonly root: RootContext
  readonly session: Session
  /** A fresh directory, resolved; removed at the end. */
  readonly project: string
  /** Another fresh directory, which is not in the project. */
  readonly outside: string
  row(id: string): Mounted
  /** Names of the tools that a step would have. */
  offered(): string[]
  call(name: string, args: unknown, signal?: AbortSignal): Promise<ToolAnswer>
  /** Calls of one assistant message. */
  batch(calls: readonly AskedCall[], signal?: AbortSignal): Promise<ToolAnswer[]>
}

export async function openToolBench(options: ToolBenchOptions): Promise<ToolBench> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'cordage-tool-')))
  const [project, outside] = [join(base, 'project'), join(base, 'outside')]
  await mkdir(project)
  await mkdir(outside)
  const root = createRoot()
  const rows = await mountRows(root, options, { home: join(base, 'home'), project })
  const session = await root.sessions.create({ project, depth: 0 })
  const runner = createRunner(root, session, project, options.mode ?? 'workspace-write')
  return {
    root,
    session,
    project,
    outside,
    row: (id) => rows.get(id) ?? missing(id),
    offered: runner.offered,
    batch: runner.batch,
    call: async (name, args, signal) => {
      const [answer] = await runner.batch([{ name, args }], signal)
      return answer ?? missing(name)
    },
    [Symbol.asyncDispose]: async () => {
      await runner.close()
      for (const row of [...rows.values()].reverse()) await row.dispose()
      await rm(base, { recursive: true, force: true })
    },
  }
}

function missing(name: string): never {
  throw new Error(`the bench has no ${name}`)
}

async function mountRows(
  root: RootContext,
  { rows, config = {}, env = {} }: ToolBenchOptions,
  place: { home: string; project: string },
): Promise<Map<string, Mounted>> {
  const host = definePlugin({
    name: 'test-host',
    provides: ['host'],
    apply: (ctx) => {
      const variables = { PATH: process.env['PATH'], HOME: place.project, ...env }
      const { home, project: cwd } = place
      own(ctx, 'host', { env: variables, home, cwd, version: '0.0.0' })
    },
  })
  const core = { host, store, sessions, policy, ledger, tools, environment }
  const mounted = new Map<string, Mounted>()
  for (const [id, plugin] of Object.entries({ ...core, ...rows })) {
    const row = mount(root, { id, plugin, config: config[id] ?? {}, timeoutMs: 5_000 })
    mounted.set(id, row)
    const state = await row.settled()
    if (state.state !== 'active') throw new Error(`row ${id}: ${JSON.stringify(state)}`)
  }
  return mounted
}

function createRunner(
  root: RootContext,
  session: Session,
  project: string,
  mode: Authority['mode'],
) {
  const scope = openScope(root, 'bench')
  const account = root.ledger.open('bench', {})
  const seen = createSeenFiles()
  const authority: Authority = { mode, writableRoots: [project] }
  const input = { provider: 'test', model: 'test', input: ['text', 'image'] }
  // The log holds no large values, so they are taken where they are announced.
  const values = new Map<string, unknown>()
  resultNotice.use(root, ({ call, value }) => void values.set(call.id, value))
  let step = 0
  const batch = async (calls: readonly AskedCall[], signal = new AbortController().signal) => {
    step += 1
    const parts = calls.map(({ name, args }, index): ToolCallPart => {
      const text = JSON.stringify(args)
      return { type: 'tool-call', id: `call-${step}-${index}`, name, arguments: text }
    })
    await runBatch({
      ctx: root,
      session,
      scope,
      actor: { sessionId: session.id, agentId: 'bench', authority },
      account,
      toolset: root.tools.resolve(scope, input),
      calls: parts,
      turn: 1,
      step,
      signal,
      project,
      cwd: session.cwd,
      maxParallel: 10,
      graceMs: 5_000,
      clock: turnClock,
      seen,
    })
    return readAnswers(session, parts, values)
  }
  return {
    batch,
    offered: () => [...root.tools.resolve(scope, input).tools.keys()],
    close: async () => {
      account.close()
      await scope.close()
    },
  }
}

async function readAnswers(
  session: Session,
  calls: readonly ToolCallPart[],
  values: ReadonlyMap<string, unknown>,
): Promise<ToolAnswer[]> {
  const answers = new Map<string, ToolAnswer>()
  for await (const fact of session.read(0)) {
    if (fact.type !== toolResult.type) continue
    const { callId, part, error } = toolResult.schema.parse(fact.data)
    const text = part.content.map((one) => (one.type === 'text' ? one.text : '')).join('')
    const { isError, content } = part
    answers.set(callId, { isError, text, content, value: values.get(callId), code: error?.code })
  }
  return calls.map(({ id }) => answers.get(id) ?? missing(id))
}
