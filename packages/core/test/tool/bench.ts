import '@cordage/core/environment'
import {
  createRoot,
  definePlugin,
  mount,
  openScope,
  own,
  type AnyPlugin,
  type RootContext,
  type Scope,
} from '@cordage/core/kernel'
import type { Limits } from '@cordage/core/ledger'
import type { Authority } from '@cordage/core/policy'
import { toolResult, type Fact, type Session } from '@cordage/core/session'
import { createSeenFiles, runBatch, turnClock, type ToolBatch } from '@cordage/core/tool'
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import environment from '../../../environments/local/src/index.ts'
import memory from '../../../stores/memory/src/index.ts'
import credentials from '../../src/credential/index.ts'
import ledger from '../../src/ledger/index.ts'
import policy from '../../src/policy/index.ts'
import sessions from '../../src/store/index.ts'
import tools from '../../src/tool/index.ts'
import type { MadeTool } from './make-tool.ts'

export interface BenchOptions {
  readonly tools?: readonly MadeTool[]
  readonly mode?: Authority['mode']
  readonly limits?: Limits
  readonly env?: Readonly<Record<string, string>>
  readonly maxInlineChars?: number
  /** Rows of the core or the environment that are not mounted. */
  readonly without?: readonly string[]
}

export interface Answered {
  readonly name: string
  readonly isError: boolean
  readonly text: string
  readonly code: string | undefined
  readonly message: string | undefined
  readonly value: unknown
  readonly data: Record<string, unknown>
}

export type Asked =
  | readonly [name: string, args: unknown]
  | readonly [name: string, args: unknown, id: string]

/** The pipeline over a real store, real files and real processes. */
export interface Bench extends AsyncDisposable {
  readonly root: RootContext
  readonly scope: Scope
  readonly session: Session
  readonly project: string
  readonly outside: string
  readonly home: string
  readonly logged: string[]
  authority: Authority
  mount(id: string, plugin: AnyPlugin): Promise<void>
  /** Runs calls of one message; strings are taken as the raw arguments. */
  run(calls: readonly Asked[], options?: Partial<ToolBatch>): Promise<Answered[]>
  call(name: string, args: unknown, options?: Partial<ToolBatch>): Promise<Answered>
  facts(): Promise<Fact[]>
  /** Types of the facts, with the call they belong to. */
  trail(): Promise<string[]>
}

export async function openBench(options: BenchOptions = {}): Promise<Bench> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'cordage-core-tool-')))
  const [project, outside, home] = ['project', 'outside', 'home'].map((name) =>
    join(base, name),
  ) as [string, string, string]
  for (const directory of [project, outside, home]) await mkdir(directory)
  const logged: string[] = []
  const root = createRoot({ log: ({ level, text }) => level === 'error' && logged.push(text) })
  const env = { PATH: process.env['PATH'], HOME: base, ...options.env }
  const host = hostRow({ env, home, cwd: project, version: '0' })
  const rows: [string, AnyPlugin, unknown][] = [
    ['host', host, {}],
    ['store-memory', memory, {}],
    ['core-session', sessions, {}],
    ['core-credential', credentials, {}],
    ['core-policy', policy, {}],
    ['core-ledger', ledger, {}],
    ['core-tool', tools, { maxInlineChars: options.maxInlineChars ?? 30_000 }],
    ['env-local', environment, { killGraceMs: 200 }],
    ['test-tools', toolRow(options.tools ?? []), {}],
  ]
  const wanted = rows.filter(([id]) => !options.without?.includes(id))
  const mounted = await Promise.all(
    wanted.map(async ([id, plugin, config]) => {
      const row = mount(root, { id, plugin, config, timeoutMs: 5000 })
      await row.settled()
      return row
    }),
  )
  const session = await root.sessions.create({ project, depth: 0 })
  const scope = openScope(root, 'agent')
  const account = root.ledger.open('a', options.limits ? { limits: options.limits } : {})
  const seen = createSeenFiles()
  let authority: Authority = { mode: options.mode ?? 'workspace-write', writableRoots: [project] }
  const actor = {
    sessionId: session.id,
    agentId: 'a',
    get authority() {
      return authority
    },
  }
  let step = 0
  const run = async (calls: readonly Asked[], more: Partial<ToolBatch> = {}) => {
    step += 1
    const parts = calls.map(([name, args, id], index) => ({
      type: 'tool-call' as const,
      id: id ?? `${name}-${step}-${index}`,
      name,
      arguments: typeof args === 'string' ? args : JSON.stringify(args),
    }))
    const input = { provider: 'p', model: 'm', input: ['text'] }
    await runBatch({
      ctx: root,
      session,
      scope,
      actor,
      account,
      toolset: root.tools.resolve(scope, input),
      calls: parts,
      turn: 1,
      step,
      signal: new AbortController().signal,
      project,
      cwd: session.cwd,
      maxParallel: 10,
      graceMs: 100,
      clock: turnClock,
      seen,
      ...more,
    })
    const results = await answersOf(session)
    return parts.map(({ id }) => {
      const own = results.filter((result) => result.callId === id)
      if (own.length !== 1) throw new Error(`${id} has ${own.length} results`)
      return own[0]!.answer
    })
  }
  return {
    root,
    scope,
    session,
    project,
    outside,
    home,
    logged,
    run,
    get authority() {
      return authority
    },
    set authority(next) {
      authority = next
    },
    mount: async (id, plugin) => {
      const row = mount(root, { id, plugin, config: {}, timeoutMs: 5000 })
      mounted.push(row)
      const state = await row.settled()
      if (state.state !== 'active') throw new Error(JSON.stringify(state))
    },
    call: async (name, args, more) => {
      const [answer] = await run([[name, args]], more)
      return answer!
    },
    facts: () => factsOf(session),
    trail: async () => {
      const facts = await factsOf(session)
      return facts.map(({ type, data }) => {
        const { callId } = data as { callId?: string }
        return callId === undefined ? type : `${type} ${callId}`
      })
    },
    [Symbol.asyncDispose]: async () => {
      await scope.close()
      for (const row of mounted.reverse()) await row.dispose()
      await rm(base, { recursive: true, force: true })
    },
  }
}

function hostRow(host: RootContext['host']): AnyPlugin {
  return definePlugin({
    name: 'host',
    provides: ['host'],
    apply: (ctx) => own(ctx, 'host', host),
  })
}

export function toolRow(list: readonly MadeTool[]): AnyPlugin {
  return definePlugin({
    name: 'test-tools',
    inject: ['tools'],
    apply: (ctx) => {
      for (const tool of list) ctx.tools.register(ctx, tool)
    },
  })
}

async function factsOf(session: Session): Promise<Fact[]> {
  const facts: Fact[] = []
  for await (const fact of session.read(0)) facts.push(fact)
  return facts
}

async function answersOf(session: Session) {
  const facts = await factsOf(session)
  return facts
    .filter((fact) => toolResult.is(fact))
    .map(({ data }) => {
      const { callId, name, part, error, value } = data
      const text = part.content.map((one) => (one.type === 'text' ? one.text : '[image]')).join('')
      const answer: Answered = {
        name,
        isError: part.isError,
        text,
        value,
        data: { ...data },
        code: error?.code,
        message: error?.message,
      }
      return { callId, answer }
    })
}
