import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import '@cordage/core/agent'
import type { Agent, ModelChoice, TurnOutcome } from '@cordage/core/agent'
import { attemptStart, requestAt, type Fact, type Session } from '@cordage/core/session'
import { boot, type Harness } from 'cordage'
import {
  plainReply,
  startModelPeer,
  streamReply,
  type ModelPeer,
  type PeerReply,
} from '../../packages/kit/testkit/src/model-peer.ts'
import {
  encodeAnswer,
  type WireAnswer,
  type WireApi,
} from '../../packages/kit/testkit/src/model-wire.ts'
import { cleanEnv } from '../e2e/fixture/cli.ts'
import { makePlace, type Place } from '../e2e/fixture/place.ts'

export const protocols: readonly WireApi[] = [
  'openai-completions',
  'openai-responses',
  'anthropic-messages',
]

/** The row and the name of the route that speaks a protocol, in the overlay below. */
const routes: Record<WireApi, { row: string; provider: string; path: string }> = {
  'openai-completions': { row: 'model-openai', provider: 'chat', path: '/v1/chat/completions' },
  'openai-responses': { row: 'model-openai', provider: 'responses', path: '/v1/responses' },
  'anthropic-messages': { row: 'model-anthropic', provider: 'messages', path: '/v1/messages' },
}

export const modelOf = (api: WireApi): string => `${routes[api].provider}/peer-model`

/** The default profile, with a route of each protocol to a server on this machine. */
export interface Stage extends AsyncDisposable {
  readonly place: Place
  readonly peer: ModelPeer
  readonly harness: Harness
  readonly agent: Agent
  /** One turn, for which the server gives these answers in order. */
  turn(text: string, ...answers: WireAnswer[]): Promise<TurnOutcome>
  /** The next request fails in a way that is tried again. */
  failNext(): void
  /** From here on the other protocol's model is used. */
  use(api: WireApi, params?: ModelChoice['params']): void
  /** Ends the harness and boots another one that opens the same session. */
  restart(): Promise<void>
}

/** `layer` makes further operations of the overlay, from files that it writes into the place. */
export async function openStage(
  first: WireApi,
  layer: (place: Place) => Promise<readonly object[]> = async () => [],
): Promise<Stage> {
  const place = await makePlace()
  const peer = await startModelPeer()
  const patch = join(place.base, 'peer.patch.yml')
  await writeFile(patch, JSON.stringify([...overlay(peer.url), ...(await layer(place))]))
  let api = first
  const open = async (id?: string) => {
    const env = cleanEnv(place)
    const harness = await boot({
      profile: 'headless',
      patches: [patch],
      home: place.home,
      env,
      cwd: place.project,
    })
    const { sessions, agents } = harness.ctx
    const session = id
      ? await sessions.open(id)
      : await sessions.create({ project: place.project, depth: 0 })
    const agent = await agents.spawn({
      session,
      choice: { model: modelOf(api), params: {} },
      authority: { mode: 'workspace-write', writableRoots: [place.project] },
    })
    return { harness, agent }
  }
  let current = await open()
  const replies: PeerReply[] = []
  // The server's own list keeps its last reply, which would answer whatever is sent too often.
  peer.reply((response, request) => {
    const reply = replies.shift() ?? plainReply(400, { error: { message: 'nothing is expected' } })
    return reply(response, request)
  })
  const close = async () => {
    await current.agent.close()
    await current.harness.close()
  }
  return {
    place,
    peer,
    get harness() {
      return current.harness
    },
    get agent() {
      return current.agent
    },
    use(next, params = {}) {
      api = next
      current.agent.choice = { model: modelOf(next), params }
    },
    async turn(text, ...answers) {
      replies.push(...answers.map((answer) => streamReply(encodeAnswer(api, answer))))
      await current.agent.send(text, { wake: false })
      const outcome = await current.agent.wake()
      if (!outcome) throw new Error('no turn was run')
      return outcome
    },
    failNext: () => void replies.push(plainReply(503, { error: { message: 'busy' } })),
    async restart() {
      const { id } = current.agent.session
      await close()
      current = await open(id)
    },
    async [Symbol.asyncDispose]() {
      await close()
      await peer.close()
      await place[Symbol.asyncDispose]()
    },
  }
}

/** A layer with a route of each protocol to a server. */
export function overlay(url: string) {
  const models = [
    {
      id: 'peer-model',
      contextWindow: 200_000,
      maxTokens: 4_096,
      input: ['text', 'image'],
      reasoningEfforts: { high: 'high' },
    },
  ]
  const route = { displayName: 'Peer', models }
  const chat = {
    ...route,
    api: 'openai-completions',
    baseURL: `${url}/v1`,
    compat: { reasoningContent: 'all' },
  }
  const responses = { ...route, api: 'openai-responses', baseURL: `${url}/v1` }
  const messages = { ...route, baseURL: url }
  return [
    { id: 'model-openai', merge: { providers: { chat, responses } } },
    { id: 'model-anthropic', merge: { providers: { messages } } },
    { id: 'policy-retry', merge: { initialDelayMs: 1 } },
  ]
}

/** The bodies that a log alone gives, one for each attempt in order, as the adapter would send. */
export async function bodiesOf(harness: Harness, session: Session): Promise<unknown[]> {
  const facts: Fact[] = []
  for await (const fact of session.read(0)) facts.push(fact)
  const bodies: unknown[] = []
  for (const { data } of facts.filter(attemptStart.is)) {
    const logged = await requestAt(facts, data.turn, data.step)
    if (!logged) throw new Error(`the log has no request of step ${data.turn}.${data.step}`)
    const { provider, model, tools, params } = logged.header
    const { route } = harness.ctx.models.resolve(`${provider}/${model}`)
    const getBlob = (hash: string) => session.getBlob(hash)
    const { messages } = logged
    bodies.push(await route.body({ provider, model, messages, tools, params, getBlob }))
  }
  return bodies
}
