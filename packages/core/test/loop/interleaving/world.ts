import {
  createRoot,
  definePlugin,
  mount,
  own,
  type AnyPlugin,
  type PluginContext,
  type RootContext,
} from '@cordage/core/kernel'
import { preStep, request, requestError, turnStopping, type Answer } from '@cordage/core/loop'
import type { ModelProvider, ModelRequest } from '@cordage/core/model'
import { OpenSessions } from '@cordage/core/store'
import { defineTool, execute, postExecute, preExecute } from '@cordage/core/tool'
import { z } from 'zod'
import agents from '../../../src/agent/index.ts'
import credentials from '../../../src/credential/index.ts'
import ledger from '../../../src/ledger/index.ts'
import { loopConfig } from '../../../src/loop/config.ts'
import { createLoop } from '../../../src/loop/loop.ts'
import models from '../../../src/model/index.ts'
import policy from '../../../src/policy/index.ts'
import prompt from '../../../src/prompt/index.ts'
import tools from '../../../src/tool/index.ts'
import type { SimulatedClock } from '../../../../kit/testkit/src/simulation/clock.ts'
import { HangingDisk } from '../../store/hanging-disk.ts'
import type { PlannedCall } from './plan.ts'
import type { Script } from './script.ts'

export const GRACE_MS = 1_000
const WRITE_TIMEOUT_MS = 1_500
/** Said and returned by what was left behind: it may never be seen. */
export const LATE = 'LATE'

/** The real core, booted once; the script says what model, tools and hooks do in one run. */
export interface World {
  readonly root: RootContext
  script: Script
  readonly disk: HangingDisk
  /** The store does its work at once: nothing but the clock makes anything wait. */
  readonly instant: boolean
  close(): Promise<void>
}

export async function openWorld(
  clock: SimulatedClock,
  store: { plugin: AnyPlugin; config?: unknown; instant: boolean },
): Promise<World> {
  const root = createRoot({ log: () => {} })
  const host = { env: {}, home: '/nowhere/.cordage', cwd: '/project', version: '0.0.0' }
  const world: { script: Script } = { script: undefined as never }
  const script = () => world.script
  const disk = new HangingDisk()
  const rows: { plugin: AnyPlugin; config?: unknown }[] = [
    { plugin: providing('host', () => host) },
    store,
    { plugin: sessionsRow(clock, disk) },
    ...[credentials, models, prompt, policy, ledger, tools, agents].map((plugin) => ({ plugin })),
    { plugin: loopRow(clock) },
    { plugin: modelRow(script) },
    { plugin: toolRow(script) },
    { plugin: hookRow(script) },
  ]
  const mounted = rows.map(({ plugin, config = {} }) => {
    const { name } = plugin as { name: string }
    return mount(root, { id: name, plugin, config, timeoutMs: 5_000 })
  })
  for (const row of mounted) {
    const state = await row.settled()
    if (state.state !== 'active') throw new Error(`${row.id}: ${JSON.stringify(state)}`)
  }
  return Object.assign(world, {
    root,
    disk,
    instant: store.instant,
    close: async () => {
      for (const row of mounted.reverse()) await row.dispose()
    },
  })
}

function providing(name: 'host', make: () => unknown): AnyPlugin {
  return definePlugin({
    name,
    provides: [name],
    apply: (ctx) => own(ctx, name, make() as RootContext['host']),
  })
}

function sessionsRow(clock: SimulatedClock, disk: HangingDisk): AnyPlugin {
  return definePlugin({
    name: 'sessions',
    provides: ['sessions'],
    inject: ['store'],
    apply(ctx) {
      const sessions = new OpenSessions(ctx, disk.store(ctx.store), clock, WRITE_TIMEOUT_MS)
      own(ctx, 'sessions', sessions, () => sessions.close())
    },
  })
}

function loopRow(clock: SimulatedClock): AnyPlugin {
  return definePlugin({
    name: 'loop',
    provides: ['loop'],
    inject: ['models', 'tools', 'prompt'],
    apply(ctx: PluginContext<'models' | 'tools' | 'prompt'>) {
      const config = loopConfig.parse({ cancelGraceMs: GRACE_MS, streamIdleTimeoutMs: 4_000 })
      own(ctx, 'loop', createLoop(ctx, config, clock))
    },
  })
}

/** What a route sends; a test rebuilds it from the log. */
export function bodyOf(request: Pick<ModelRequest, 'model' | 'messages' | 'tools' | 'params'>) {
  return {
    model: request.model,
    params: request.params,
    tools: request.tools,
    messages: request.messages.map(({ message }) => message),
  }
}

function modelRow(script: () => Script): AnyPlugin {
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
      efforts: {},
    }),
    declared: () => [],
    list: async () => [],
    body: async (request) => {
      await script().prepare()
      return bodyOf(request)
    },
    stream: (_request, _body, { signal }) => script().answer(signal),
  }
  return definePlugin({
    name: 'test-model',
    inject: ['models'],
    apply: (ctx) => ctx.models.register(ctx, provider),
  })
}

function toolRow(script: () => Script): AnyPlugin {
  const tool = (name: PlannedCall['name'], concurrent: boolean) =>
    defineTool({
      name,
      description: 'Works.',
      parameters: z.strictObject({ does: z.enum(['return', 'throw', 'odd', 'deaf']) }),
      effects: () => [],
      concurrent: () => concurrent,
      execute: ({ does }, run) => script().work(does, run),
    })
  return definePlugin({
    name: 'test-tools',
    inject: ['tools'],
    apply(ctx) {
      ctx.tools.register(ctx, tool('work', true))
      ctx.tools.register(ctx, tool('alone', false))
    },
  })
}

const answer: Answer = {
  content: [{ type: 'text', text: 'by a hook' }],
  finish: 'stop',
  usage: undefined,
  replay: undefined,
  hasText: true,
  hasReasoning: false,
  truncated: false,
}

/** Each hook of the loop, with a handler that does what the script says. */
function hookRow(script: () => Script): AnyPlugin {
  return definePlugin({
    name: 'test-hooks',
    apply(ctx) {
      preStep.use(ctx, (_, next) =>
        script().judge('pre-step', next, { kind: 'reject', reason: 'not now' }),
      )
      request.use(ctx, (_, next) => script().judge('request', next, answer))
      requestError.use(ctx, (_, next) =>
        script().judge('request-error', next, { kind: 'retry', delayMs: 300 }),
      )
      turnStopping.use(ctx, (_, next) =>
        script().judge('turn-stopping', next, { kind: 'continue', text: 'More.' }),
      )
      preExecute.use(ctx, () =>
        script().judge('pre-execute', async () => undefined, { answer: 'ask', reason: 'hm' }),
      )
      execute.use(ctx, (_, next) => script().judge('execute', next, 'instead'))
      postExecute.use(ctx, (_, next) =>
        script().judge('post-execute', next, { content: [], isError: false }),
      )
    },
  })
}
