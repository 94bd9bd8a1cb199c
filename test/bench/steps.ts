import type { Agent } from '@cordage/core/agent'
import type { ModelEvent, ModelProvider } from '@cordage/core/model'
import { boot, type Harness } from 'cordage'
import { z } from 'zod'
import { BodyText } from '../../packages/core/src/loop/body-text.ts'
import { cleanEnv } from '../e2e/fixture/cli.ts'
import { makePlace, type Place } from '../e2e/fixture/place.ts'
import { makeSession, model } from './history.ts'
import type { Row } from './row.ts'

/** As many as lie between two requests that policy-rebuild makes again from the log. */
const STEPS = 64
const ROUNDS = 10
/** Rounds that are not counted: code that runs for the first time is slower. */
const WARM_UP = 3
const TURNS = 2_000
const AT_ENDS = 100

/** Milliseconds of CPU, of all threads, that a step costs the harness itself. */
export async function measureSteps(): Promise<Row[]> {
  await using bench = await openBench()
  const few = await measureAt(bench, 10)
  // The first steps of a session are checked more often than all later ones.
  const many = await measureAt(bench, 1_000, STEPS)
  const most = (at: number) => ({ of: 'median', at }) as const
  const unit = 'ms'
  return [
    { name: 'step: CPU at 10 messages', unit, samples: few.total, limit: most(5) },
    { name: 'step: CPU at 1000 messages', unit, samples: many.total },
    {
      name: 'step: CPU at 1000 messages, body aside',
      unit,
      samples: many.aside,
      limit: most(3),
    },
  ]
}

/**
 * What a turn of one step costs, bodies aside, at the end of a long session, beside what it does at first: in turn
 * with those of a second session, so that what else the machine does falls on both alike.
 */
export async function measureTurns(): Promise<Row[]> {
  await using bench = await openBench()
  const old = await spawnAt(bench, 0)
  for (let turn = 0; turn < TURNS - AT_ENDS; turn += 1) await takeTurn(bench, old, 1)
  const young = await spawnAt(bench, 0)
  const samples: number[] = []
  const bare: number[] = []
  for (let turn = 0; turn < AT_ENDS; turn += 1) {
    bare.push((await takeTurn(bench, young, 1)).aside)
    samples.push((await takeTurn(bench, old, 1)).aside)
  }
  return [
    {
      name: 'turn: CPU of the last 100 of 2000',
      unit: 'ms',
      samples,
      bare,
      than: 'the first',
      limit: { of: 'ratio', at: 1.2 },
    },
  ]
}

interface Bench extends AsyncDisposable {
  readonly harness: Harness
  readonly place: Place
  /** Has the next turn take so many steps. */
  plan(steps: number): void
}

async function openBench(): Promise<Bench> {
  const place = await makePlace('empty')
  const { home, project } = place
  const harness = await boot({ profile: 'headless', home, env: cleanEnv(place), cwd: project })
  return {
    harness,
    place,
    plan: registerModel(harness),
    [Symbol.asyncDispose]: async () => {
      await harness.close()
      await place[Symbol.asyncDispose]()
    },
  }
}

/** A model that answers at once: with calls of a tool that does nothing, and then with a word. */
function registerModel({ ctx }: Harness): (steps: number) => void {
  let left = 0
  const provider: ModelProvider = {
    id: model.provider,
    displayName: 'Bench',
    api: 'bench',
    available: () => false,
    info: (id) => ({ id, contextWindow: 1e6, maxTokens: 1e3, input: ['text'], declared: true }),
    declared: () => [],
    list: async () => [],
    body: async ({ messages, tools }) => ({ tools, messages: messages.map((one) => one.message) }),
    async *stream() {
      left -= 1
      yield* answer(left)
    },
  }
  ctx.models.register(ctx, provider)
  ctx.tools.register(ctx, {
    name: 'nothing',
    description: 'Does nothing.',
    parameters: z.strictObject({}),
    effects: () => [],
    execute: async () => ({ done: true }),
  })
  return (steps) => void (left = steps)
}

function answer(left: number): ModelEvent[] {
  const said: ModelEvent =
    left > 0
      ? { type: 'tool-call', index: 0, id: `call_${left}`, name: 'nothing', arguments: '{}' }
      : { type: 'text', text: 'Done.' }
  return [
    said,
    { type: 'usage', usage: { inputTokens: 1, outputTokens: 1 } },
    { type: 'finish', reason: left > 0 ? 'tool-calls' : 'stop' },
  ]
}

async function measureAt(bench: Bench, messages: number, before = 0) {
  const total: number[] = []
  const aside: number[] = []
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    const agent = await spawnAt(bench, messages - before * 2)
    if (before > 0) await takeTurn(bench, agent, before)
    const turn = await takeTurn(bench, agent, STEPS)
    await agent.close()
    if (round < 0) continue
    total.push(turn.total / STEPS)
    aside.push(turn.aside / STEPS)
  }
  return { total, aside }
}

/** An agent in a session that already has so many messages. */
async function spawnAt({ harness, place }: Bench, messages: number): Promise<Agent> {
  return harness.ctx.agents.spawn({
    session: await makeSession(harness, place, messages),
    choice: { model: `${model.provider}/${model.model}`, params: {} },
    authority: { mode: 'workspace-write', writableRoots: [place.project] },
  })
}

/** Milliseconds of CPU, with and without those that it took to write request bodies down. */
async function takeTurn(
  bench: Bench,
  agent: Agent,
  steps: number,
): Promise<{ total: number; aside: number }> {
  bench.plan(steps)
  await agent.send('Begin', { wake: false })
  const [cpu, writing] = [startCpu(), watchWriting()]
  const outcome = await agent.wake()
  const [total, written] = [cpu(), writing()]
  if (outcome?.reason !== 'completed') throw new Error(JSON.stringify(outcome))
  return { total, aside: total - written }
}

/** What it takes to write request bodies down, until the result is called. */
function watchWriting(): () => number {
  const { write } = BodyText.prototype
  let ms = 0
  BodyText.prototype.write = function (body) {
    const cpu = startCpu()
    const written = write.call(this, body)
    ms += cpu()
    return written
  }
  return () => {
    BodyText.prototype.write = write
    return ms
  }
}

/** Milliseconds of CPU of this process until the result is called. */
function startCpu(): () => number {
  const before = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  }
}
