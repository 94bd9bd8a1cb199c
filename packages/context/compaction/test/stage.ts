import compactionService, { type Pressure } from '@cordage/core/compaction'
import commands from '@cordage/core/command'
import { definePlugin, own } from '@cordage/core/kernel'
import { textOf } from '@cordage/core/message'
import {
  estimateMessage,
  estimateTool,
  findModel,
  modelError,
  type ModelEvent,
  type ModelProvider,
  type ModelRequest,
} from '@cordage/core/model'
import type { Fact } from '@cordage/core/session'
import {
  bench,
  replying,
  say,
  type Bench,
  type BenchOptions,
  type Reply,
} from '../../../core/test/loop/boot.ts'
import compaction from '../src/index.ts'

export interface Stage extends Bench {
  turn(text: string): Promise<{ reason: string; error?: { code: string; message: string } }>
  /** What the model sees now. */
  texts(): string[]
  command(text: string): Promise<string>
  /** The codes with which compactions ended, `ok` for those that did well. */
  ends(): Promise<string[]>
}

/** A history of long turns; the model answers what is given, and the harness compacts as it may. */
export async function stage(
  replies: Reply[],
  config: Record<string, unknown> = {},
  options: BenchOptions = {},
): Promise<Stage> {
  const rows = [
    { plugin: commands },
    { plugin: compactionService },
    { plugin: meter },
    { plugin: compaction, config: { retryDelayMs: 0, ...config } },
    ...(options.rows ?? []),
  ]
  const requests: ModelRequest[] = []
  rows.push({ plugin: windows(replies, requests) })
  const made = await bench(replies, { ...options, rows })
  const take = requests.push.bind(made.requests)
  requests.push = take
  return {
    ...made,
    async turn(text) {
      await made.agent.send(text, { wake: false })
      return (await made.agent.wake()) as Awaited<ReturnType<Stage['turn']>>
    },
    texts: () => made.session.surface.map(({ message }) => textOf(message)),
    async command(text) {
      const signal = new AbortController().signal
      return (await made.root.commands.run(text, made.agent, signal))?.text ?? ''
    },
    async ends() {
      return (await made.facts())
        .filter(({ type }) => type === 'compaction/end')
        .map(({ data }: Fact) => (data as { error?: { message: string } }).error?.message ?? 'ok')
    },
  }
}

/** Models named for the tokens of their window, as in `window/8000`; answers take 500. */
function windows(replies: Reply[], requests: ModelRequest[]) {
  const provider: ModelProvider = {
    id: 'window',
    displayName: 'Window',
    api: 'test',
    available: () => true,
    info: (id) => ({ ...findModel([], id), contextWindow: Number(id), maxTokens: 500 }),
    declared: () => [],
    list: async () => [],
    body: async ({ messages, tools, params }) => ({ messages, tools, params }),
    stream: replying(replies, requests),
  }
  return definePlugin({
    name: 'test-windows',
    inject: ['models'],
    apply: (ctx) => ctx.models.register(ctx, provider),
  })
}

/** Counts by estimate alone; the real one has tests of its own. */
const meter = definePlugin({
  name: 'test-meter',
  provides: ['meter'],
  apply(ctx) {
    own(ctx, 'meter', {
      measure({ session, target, pending = [] }): Pressure {
        const messages = [...session.surface.map(({ message }) => message), ...pending]
        const tools = session.requestHeader?.tools ?? []
        const projectedTokens =
          messages.reduce((sum, message) => sum + estimateMessage(message), 0) +
          tools.reduce((sum, tool) => sum + estimateTool(tool), 0)
        const { contextWindow, maxTokens: outputTokens } = target.info
        return { projectedTokens, anchoredTokens: 0, contextWindow, outputTokens }
      },
      contextBreakdown: () => ({ system: [], tools: [], messages: [], files: [] }),
      cumulativeUsage: () => ({ inputTokens: 0, outputTokens: 0 }),
    })
  },
})

export function snapshot(words = 'as it was'): string {
  const parts = [
    'overall_goal',
    'key_knowledge',
    'file_system_state',
    'recent_actions',
    'current_plan',
  ]
  return `<state_snapshot>\n${parts.map((part) => `<${part}>${words}</${part}>`).join('\n')}\n</state_snapshot>`
}

/** An answer that the provider counted `inputTokens` for. */
export function saying(text: string, inputTokens: number): ModelEvent[] {
  return say(text).map((event) =>
    event.type === 'usage' ? { ...event, usage: { inputTokens, outputTokens: 2 } } : event,
  )
}

export function failing(code: Parameters<typeof modelError>[0]): Reply {
  // oxlint-disable-next-line require-yield
  return async function* () {
    throw modelError(code, { model: 'test/model', status: 400, detail: 'no', hint: '' } as never)
  }
}

/** Compacts from 1,000 prompt tokens on, and keeps two messages. */
export const small = {
  trigger: 'messages',
  totalTokenThreshold: 1_000,
  keepRecentMessageCount: 2,
  minMessagesToSummarize: 2,
}

export const LONG = 'What was found there takes some room to say. '.repeat(60)
