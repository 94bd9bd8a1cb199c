import type { Agent, TurnOutcome } from '@cordage/core/agent'
import type { ModelProvider } from '@cordage/core/model'
import { boot, type Harness } from 'cordage'
import { cleanEnv } from '../e2e/fixture/cli.ts'
import { makePlace, type Place } from '../e2e/fixture/place.ts'
import { makeSession, model } from './history.ts'

export interface Bench extends AsyncDisposable {
  readonly harness: Harness
  readonly place: Place
}

export interface BenchOptions {
  /** What the model of `history.ts` answers. */
  readonly stream?: ModelProvider['stream']
  /** An overlay, absolute. */
  readonly patch?: string
}

/** The headless profile, in a place of its own. */
export async function openBench({ stream, patch }: BenchOptions): Promise<Bench> {
  const place = await makePlace('empty')
  const { home, project } = place
  const patches = patch === undefined ? [] : [patch]
  const env = cleanEnv(place)
  const harness = await boot({ profile: 'headless', home, env, cwd: project, patches })
  if (stream) harness.ctx.models.register(harness.ctx, providerOf(stream))
  return {
    harness,
    place,
    [Symbol.asyncDispose]: async () => {
      await harness.close()
      await place[Symbol.asyncDispose]()
    },
  }
}

function providerOf(stream: ModelProvider['stream']): ModelProvider {
  return {
    id: model.provider,
    displayName: 'Bench',
    api: 'bench',
    available: () => false,
    info: (id) => ({ id, contextWindow: 1e6, maxTokens: 1e3, input: ['text'], declared: true }),
    declared: () => [],
    list: async () => [],
    body: async ({ messages, tools }) => ({ tools, messages: messages.map((one) => one.message) }),
    stream,
  }
}

/** An agent in a session that already has so many messages. */
export async function spawnAt(
  { harness, place }: Bench,
  messages: number,
  name = `${model.provider}/${model.model}`,
): Promise<Agent> {
  return harness.ctx.agents.spawn({
    session: await makeSession(harness, place, messages),
    choice: { model: name, params: {} },
    authority: { mode: 'workspace-write', writableRoots: [place.project] },
  })
}

/** Has the agent do what waits in its inbox; a turn that does not complete is no measurement. */
export async function wake(agent: Agent): Promise<TurnOutcome> {
  const outcome = await agent.wake()
  if (outcome?.reason !== 'completed') throw new Error(JSON.stringify(outcome))
  return outcome
}

/** Has it answer while somebody watches, who says what came. */
export async function hearDeltas({ harness }: Bench, agent: Agent) {
  let [deltas, characters] = [0, 0]
  const stop = agent.session.watch(harness.ctx, (update) => {
    if (update.kind !== 'delta') return
    deltas += 1
    characters += update.delta.text.length
  })
  await wake(agent)
  stop()
  return { deltas, characters }
}
