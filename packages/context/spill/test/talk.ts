import type { Agent } from '@cordage/core/agent'
import { definePlugin, type AnyPlugin } from '@cordage/core/kernel'
import { toolResult, type FactOf } from '@cordage/core/session'
import { defineTool, resultText } from '@cordage/core/tool'
import { z } from 'zod'
import {
  bench,
  call,
  say,
  type Bench,
  type BenchOptions,
  type Reply,
} from '../../../core/test/loop/boot.ts'
import spill from '../src/index.ts'

/** An agent with a tool `speak`, which says what a test wants, and with spilled results. */
export interface Talk extends AsyncDisposable {
  readonly bench: Bench
  /** One turn in which an agent makes a call; gives what the model is shown of it. */
  ask(name: string, args?: Record<string, unknown>, agent?: Agent): Promise<string>
  /** What the model is shown of a result of `text`. */
  speak(text: string, more?: { readonly fail?: boolean; readonly blob?: string }): Promise<string>
  /** A turn of a person's words; gives what the model is shown of them. */
  type(text: string): Promise<string>
  page(handle: string, more?: Record<string, number>): Promise<Page>
  results(): Promise<FactOf<typeof toolResult>['data'][]>
  /** Closes the agent and opens its session again. */
  restart(): Promise<Agent>
}

export interface Page {
  readonly offset: number
  readonly end: number
  readonly bytes: number
  readonly text: string
}

export async function openTalk(
  config: Record<string, unknown> = {},
  options: BenchOptions = {},
): Promise<Talk> {
  const replies: Reply[] = []
  const now = { text: '', fail: false, blob: undefined as string | undefined }
  const rows = [{ plugin: speaker(now) }, { plugin: spill, config }, ...(options.rows ?? [])]
  const made = await bench(replies, { ...options, rows })
  let agent = made.agent
  let calls = 0
  const wake = async (one: Agent, text: string) => {
    await one.send(text, { wake: false })
    const outcome = await one.wake()
    if (outcome?.reason !== 'completed') throw new Error(JSON.stringify(outcome))
  }
  const ask: Talk['ask'] = async (name, args = {}, one = agent) => {
    replies.push(
      call({ id: `c${(calls += 1)}`, name, arguments: JSON.stringify(args) }),
      say('done'),
    )
    await wake(one, 'go')
    const results = one.session.surface.flatMap(({ message }) => {
      const [part] = message.content
      return part?.type === 'tool-result' ? [resultText(part.content)] : []
    })
    return results.at(-1) ?? ''
  }
  return {
    bench: made,
    ask,
    speak: (text, { fail = false, blob } = {}) => {
      Object.assign(now, { text, fail, blob })
      return ask('speak')
    },
    async type(text) {
      replies.push(say('done'))
      await wake(agent, text)
      const typed = agent.session.surface.filter(({ message }) => message.source.kind === 'user')
      const [part] = typed.at(-1)?.message.content ?? []
      return part?.type === 'text' ? part.text : ''
    },
    async page(handle, more = {}) {
      const shown = await ask('read_spill', { handle, ...more })
      const read = /^bytes (\d+) to (\d+) of (\d+)\n([^]*)$/.exec(shown)
      if (!read) throw new Error(shown)
      const [offset = 0, end = 0, bytes = 0] = read.slice(1, 4).map(Number)
      return { offset, end, bytes, text: read[4] ?? '' }
    },
    async results() {
      return (await made.facts()).flatMap((fact) => (toolResult.is(fact) ? [fact.data] : []))
    },
    async restart() {
      const { id, choice, authority } = agent
      await agent.close()
      const session = await made.root.sessions.open(id)
      agent = await made.root.agents.spawn({ session, choice, authority })
      return agent
    },
    async [Symbol.asyncDispose]() {
      await agent.close()
      await made.close()
    },
  }
}

function speaker(now: { text: string; fail: boolean; blob: string | undefined }): AnyPlugin {
  const parameters = z.strictObject({})
  interface Spoken {
    readonly text: string
    readonly code: number
    readonly blob?: { readonly hash: string; readonly bytes: number }
  }
  return definePlugin({
    name: 'speaker',
    inject: ['tools'],
    apply: (ctx) => {
      ctx.tools.register(
        ctx,
        defineTool<z.output<typeof parameters>, Spoken>({
          name: 'speak',
          description: 'Says it',
          parameters,
          effects: () => [],
          execute: async (_, run) => {
            const { text, blob, fail } = now
            if (blob === undefined) return { text, code: fail ? 3 : 0 }
            const bytes = Buffer.from(blob, 'latin1')
            const hash = await run.putBlob(bytes)
            return { text, code: 0, blob: { hash, bytes: bytes.length } }
          },
          render: ({ text, code }) => (code === 0 ? text : `exit ${code}\n${text}`),
          failed: ({ code }) => code !== 0,
        }),
      )
    },
  })
}
