import type { Agent } from '@cordage/core/agent'
import type { ModelEvent } from '@cordage/core/model'
import { z } from 'zod'
import { BodyText } from '../../packages/core/src/loop/body-text.ts'
import { openBench, spawnAt, wake, type Bench } from './bench.ts'
import { startCpu } from './own-time.ts'
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
  await using bench = await openSteps()
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
  await using bench = await openSteps()
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

interface StepsBench extends Bench {
  /** Has the next turn take so many steps. */
  plan(steps: number): void
}

/** With a model that answers at once: with calls of a tool that does nothing, and then with a word. */
async function openSteps(): Promise<StepsBench> {
  let left = 0
  const bench = await openBench({
    stream: async function* () {
      left -= 1
      yield* answer(left)
    },
  })
  const { ctx } = bench.harness
  ctx.tools.register(ctx, {
    name: 'nothing',
    description: 'Does nothing.',
    parameters: z.strictObject({}),
    effects: () => [],
    execute: async () => ({ done: true }),
  })
  return { ...bench, plan: (steps) => void (left = steps) }
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

async function measureAt(bench: StepsBench, messages: number, before = 0) {
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

/** Milliseconds of CPU, with and without those that it took to write request bodies down. */
async function takeTurn(
  bench: StepsBench,
  agent: Agent,
  steps: number,
): Promise<{ total: number; aside: number }> {
  bench.plan(steps)
  await agent.send('Begin', { wake: false })
  const [cpu, writing] = [startCpu(), watchWriting()]
  await wake(agent)
  const [total, written] = [cpu(), writing()]
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
