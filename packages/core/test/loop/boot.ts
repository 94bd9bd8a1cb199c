import type { Agent, ModelChoice } from '@cordage/core/agent'
import {
  createRoot,
  definePlugin,
  mount,
  own,
  type AnyPlugin,
  type PluginContext,
  type RootContext,
} from '@cordage/core/kernel'
import type { Limits } from '@cordage/core/ledger'
import type { ModelEvent, ModelProvider, ModelRequest } from '@cordage/core/model'
import type { Fact, Session } from '@cordage/core/session'
import type { Clock } from '@cordage/core/store'
import type { Tool } from '@cordage/core/tool'
import agents from '../../src/agent/index.ts'
import credentials from '../../src/credential/index.ts'
import ledger from '../../src/ledger/index.ts'
import loop from '../../src/loop/index.ts'
import { loopConfig } from '../../src/loop/config.ts'
import { createLoop } from '../../src/loop/loop.ts'
import models from '../../src/model/index.ts'
import policy from '../../src/policy/index.ts'
import prompt from '../../src/prompt/index.ts'
import sessions from '../../src/store/index.ts'
import tools from '../../src/tool/index.ts'
import memory from '../../../stores/memory/src/index.ts'

/** What a scripted model does with one request: events, or a generator that may wait or throw. */
export type Reply =
  | readonly ModelEvent[]
  | ((request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelEvent>)

export const say = (text: string): ModelEvent[] => [
  { type: 'text', text },
  { type: 'usage', usage: { inputTokens: 10, outputTokens: 2 } },
  { type: 'finish', reason: 'stop' },
]

export const call = (...calls: { id: string; name: string; arguments: string }[]): ModelEvent[] => [
  ...calls.map((one, index): ModelEvent => ({ type: 'tool-call', index, ...one })),
  { type: 'finish', reason: 'tool-calls' },
]

export interface Bench {
  readonly root: RootContext
  readonly agent: Agent
  readonly session: Session
  /** Every request that reached the model. */
  readonly requests: ModelRequest[]
  /** What was logged as an error. */
  readonly logged: string[]
  /** What was logged as a warning. */
  readonly warned: string[]
  facts(): Promise<Fact[]>
  types(): Promise<string[]>
  close(): Promise<void>
}

type RegisterTools = (add: <A, V>(tool: Tool<A, V>) => void) => void

export interface BenchOptions {
  readonly tools?: RegisterTools
  /** Instead of the one in memory. */
  readonly store?: { plugin: AnyPlugin; config?: unknown }
  readonly rows?: readonly { plugin: AnyPlugin; config?: unknown }[]
  /** `$CORDAGE_HOME` */
  readonly home?: string
  readonly env?: Readonly<Record<string, string>>
  readonly limits?: Limits
  readonly loop?: Record<string, unknown>
  /** Instead of the time that really passes, for what the loop waits for. */
  readonly clock?: Clock
  readonly agents?: Record<string, unknown>
  readonly choice?: Partial<ModelChoice>
  readonly session?: (root: RootContext) => Promise<Session>
}

/** The real core, over a store in memory unless another is given; only the model's words are made up. */
export async function bench(replies: Reply[], options: BenchOptions = {}): Promise<Bench> {
  const requests: ModelRequest[] = []
  const logged: string[] = []
  const warned: string[] = []
  const root = createRoot({
    log: ({ level, text }) => {
      if (level === 'error') logged.push(text)
      if (level === 'warn') warned.push(text)
    },
  })
  const { home = '/nowhere/.cordage', env = {} } = options
  const host = { env, home, cwd: '/project', version: '0.0.0' }
  const rows: { plugin: AnyPlugin; config?: unknown }[] = [
    { plugin: hostRow(host) },
    options.store ?? { plugin: memory },
    { plugin: sessions },
    { plugin: credentials },
    { plugin: models },
    { plugin: prompt },
    { plugin: policy },
    { plugin: ledger },
    { plugin: tools },
    { plugin: agents, config: options.agents ?? {} },
    loopRow({ cancelGraceMs: 50, ...options.loop }, options.clock),
    { plugin: modelRow(replies, requests) },
    { plugin: toolRow(options.tools ?? (() => {})) },
    ...(options.rows ?? []),
  ]
  const mounted = rows.map(({ plugin, config = {} }, index) => {
    const { name } = plugin as { name: string }
    return mount(root, { id: name || `row-${index}`, plugin, config, timeoutMs: 2_000 })
  })
  for (const row of mounted) {
    const state = await row.settled()
    if (state.state !== 'active') throw new Error(`${row.id}: ${JSON.stringify(state)}`)
  }
  const session = options.session
    ? await options.session(root)
    : await root.sessions.create({ project: '/project', depth: 0 })
  const agent = await root.agents.spawn({
    session,
    choice: { model: 'test/model', params: {}, ...options.choice },
    authority: { mode: 'full-access', writableRoots: ['/project'] },
    ...(options.limits ? { limits: options.limits } : {}),
  })
  const facts = async () => {
    const all: Fact[] = []
    for await (const fact of session.read(0)) all.push(fact)
    return all
  }
  return {
    root,
    agent,
    session,
    requests,
    logged,
    warned,
    facts,
    types: async () => (await facts()).map((fact) => fact.type),
    async close() {
      await agent.close()
      for (const row of mounted.reverse()) await row.dispose()
    },
  }
}

function loopRow(config: Record<string, unknown>, clock: Clock | undefined) {
  if (!clock) return { plugin: loop, config }
  const plugin: AnyPlugin = definePlugin({
    name: 'loop-on-a-clock',
    provides: ['loop'],
    inject: ['models', 'tools', 'prompt'],
    apply: (ctx: PluginContext<'models' | 'tools' | 'prompt'>) => {
      own(ctx, 'loop', createLoop(ctx, loopConfig.parse(config), clock))
    },
  })
  return { plugin }
}

function hostRow(host: RootContext['host']): AnyPlugin {
  return definePlugin({
    name: 'host',
    provides: ['host'],
    apply: (ctx) => own(ctx, 'host', host),
  })
}

function toolRow(registerTools: RegisterTools): AnyPlugin {
  return definePlugin({
    name: 'test-tools',
    inject: ['tools'],
    apply: (ctx) => registerTools((tool) => ctx.tools.register(ctx, tool)),
  })
}

/** Gives the replies one after the other, and notes what was asked. */
export function replying(replies: Reply[], requests: ModelRequest[]): ModelProvider['stream'] {
  return async function* (request, _body, { signal }) {
    requests.push(request)
    const reply = replies.shift()
    if (!reply) throw new Error('the test has no reply left')
    yield* typeof reply === 'function' ? reply(request, signal) : reply
  }
}

function modelRow(replies: Reply[], requests: ModelRequest[]): AnyPlugin {
  const provider: ModelProvider = {
    id: 'test',
    displayName: 'Test',
    api: 'test',
    available: () => true,
    info: (id) => ({
      id,
      contextWindow: 100_000,
      maxTokens: 1_000,
      input: ['text'],
      declared: true,
      efforts: { high: 'high' },
      ...(id === 'in-history' ? { systemPromptUpdate: 'in-history' as const } : {}),
    }),
    declared: () => [],
    list: async () => [],
    body: async (request) => ({
      model: request.model,
      params: request.params,
      tools: request.tools,
      messages: request.messages.map(({ message }) => message),
    }),
    stream: replying(replies, requests),
  }
  return definePlugin({
    name: 'test-model',
    inject: ['models'],
    apply: (ctx) => ctx.models.register(ctx, provider),
  })
}
