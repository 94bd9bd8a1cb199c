import type { Agent } from '@cordage/core/agent'
import { definePlugin } from '@cordage/core/kernel'
import { requestError } from '@cordage/core/loop'
import type { ModelEvent, ModelRequest } from '@cordage/core/model'
import {
  attemptStart,
  compactionEnd,
  compactionPrune,
  compactionStart,
  compactionSummary,
  requestPrefix,
  type FactOf,
  type NewFact,
} from '@cordage/core/session'
import { textMessage } from '@cordage/core/message'
import { defineTool } from '@cordage/core/tool'
import { z } from 'zod'
import { bench, call, say, type Bench, type Reply } from './boot.ts'

export const sections = ['stable', 'per-session', 'volatile'] as const
export const toolNames = ['alpha', 'beta', 'gamma'] as const

/** What rows contribute: a test changes it from turn to turn. */
export interface Contributions {
  readonly texts: Record<string, string>
  tools: Set<string>
}

export const usual = (): Contributions => ({
  texts: { stable: 'Be kind.', 'per-session': '这里是上海。', volatile: 'Now.', weather: 'Rain.' },
  tools: new Set(['alpha', 'beta']),
})

/** A session whose requests are kept, with the rows of a composition that changes. */
export interface PrefixStage {
  readonly bench: Bench
  given: Contributions
  agent: Agent
  begin(): Promise<void>
  /** A turn that calls a tool where `calls`, and whose first attempt fails where `fails`. */
  turn(text: string, how?: { calls?: boolean; fails?: boolean }): Promise<void>
  restart(): Promise<void>
  /** Replaces what was said by few words. */
  compact(): Promise<void>
  /** Cuts the results of tools. */
  prune(): Promise<void>
  /** The bodies of all attempts in order, and what the log says of the beginning of each. */
  attempts(): Promise<{ body: string; fact: FactOf<typeof requestPrefix> | undefined }[]>
}

export async function openPrefixStage(): Promise<PrefixStage> {
  const replies: Reply[] = []
  let given = usual()
  const made = await bench(replies, {
    rows: [{ plugin: rowOf(() => given) }, { plugin: retryRow }],
  })
  const { root } = made
  let from = 0
  let agent = made.agent
  const choice = { model: 'test/model', params: {} }
  const authority = { mode: 'full-access', writableRoots: ['/project'] } as const

  const rewrite = async (make: () => NewFact[]) => {
    const id = `c${agent.session.nextSeq}`
    const staged = make().map((fact) => ({ ...fact, data: { ...(fact.data as object), id } }))
    await agent.session.append([compactionStart({ id }), ...staged, compactionEnd({ id })])
  }
  return {
    bench: made,
    get given() {
      return given
    },
    set given(next) {
      given = next
    },
    get agent() {
      return agent
    },
    set agent(next) {
      agent = next
    },
    async begin() {
      await agent.close()
      given = usual()
      from = made.requests.length
      const session = await root.sessions.create({ project: '/project', depth: 0 })
      agent = await root.agents.spawn({ session, choice, authority })
    },
    async turn(text, { calls = false, fails = false } = {}) {
      if (fails) replies.push(broken)
      if (calls) replies.push(call({ id: 'c', name: 'alpha', arguments: '{}' }))
      replies.push(say(`I heard ${text}`))
      await agent.send(text, { wake: false })
      const outcome = await agent.wake()
      if (outcome?.reason !== 'completed') throw new Error(JSON.stringify(outcome))
    },
    async restart() {
      const { session, choice: kept } = agent
      await agent.close()
      const again = await root.sessions.open(session.id)
      agent = await root.agents.spawn({ session: again, choice: kept, authority })
    },
    compact: () =>
      rewrite(() => {
        const said = agent.session.surface.filter(({ message }) => message.role !== 'system')
        const [first, last] = [said[0], said.at(-1)]
        if (!first || !last) return []
        const source = { kind: 'plugin', row: 'shortener', form: 'summary' } as const
        const message = textMessage('s', 'user', 'In short.', source)
        return [compactionSummary({ id: '', range: { from: first.seq, to: last.seq }, message })]
      }),
    prune: () =>
      rewrite(() => {
        const results = agent.session.surface.filter(({ message }) => message.role === 'tool')
        const replaced = results.map(({ seq }) => ({ seq, text: 'cut' }))
        return [compactionPrune({ id: '', replaced })]
      }),
    async attempts() {
      const starts: FactOf<typeof attemptStart>[] = []
      const changes = new Map<string, FactOf<typeof requestPrefix>>()
      for await (const fact of agent.session.read(0)) {
        if (attemptStart.is(fact)) starts.push(fact)
        if (requestPrefix.is(fact)) changes.set(placeOf(fact.data), fact)
      }
      const bodies = made.requests.slice(from).map(bodyOf)
      if (bodies.length !== starts.length) throw new Error('an attempt without a request')
      return starts.map(({ data }, at) => {
        return { body: bodies[at] as string, fact: changes.get(placeOf(data)) }
      })
    },
  }
}

type Place = { turn: number; step: number; attempt: number }
const placeOf = ({ turn, step, attempt }: Place) => `${turn}.${step}.${attempt}`

/** What the route of the bench sends. */
function bodyOf({ model, params, tools, messages }: ModelRequest): string {
  return JSON.stringify({ model, params, tools, messages: messages.map(({ message }) => message) })
}

async function* broken(): AsyncGenerator<ModelEvent> {
  yield { type: 'text', text: 'Half' }
  throw new Error('the line broke')
}

function rowOf(given: () => Contributions) {
  return definePlugin({
    name: 'stage-row',
    inject: ['prompt', 'tools'],
    apply(ctx) {
      for (const id of sections) {
        ctx.prompt.section(ctx, { id, stability: id, render: () => given().texts[id] ?? '' })
      }
      ctx.prompt.context(ctx, { id: 'weather', render: () => given().texts['weather'] })
      for (const name of toolNames) {
        const tool = defineTool({
          name,
          description: `Does ${name}.`,
          parameters: z.strictObject({}),
          effects: () => [],
          execute: async () => 'It is done.',
          when: () => given().tools.has(name) || 'not now',
        })
        ctx.tools.register(ctx, tool)
      }
    },
  })
}

const retryRow = definePlugin({
  name: 'retry-row',
  apply: (ctx) => {
    requestError.use(ctx, ({ tries }, next) => {
      return tries === 1 ? { kind: 'retry' as const, delayMs: 0 } : next()
    })
  },
})
