import '@cordage/core/agent'
import { textMessage } from '@cordage/core/message'
import type { ModelProvider } from '@cordage/core/model'
import { assistantMessage, userMessage, type NewFact, type Session } from '@cordage/core/session'
import { boot, type Harness } from 'cordage'
import { z } from 'zod'
import { cleanEnv } from '../e2e/fixture/cli.ts'
import { makePlace, type Place } from '../e2e/fixture/place.ts'
import type { Row } from './row.ts'

const STEPS = 40
const ROUNDS = 5
const APPENDS = 200
const FACTS = 10_000
const OPENS = 10
const model = { provider: 'bench', model: 'steps' }

/** One process: what a step, an append and an open cost the harness itself. */
export async function measureSessions(): Promise<Row[]> {
  await using place = await makePlace('empty')
  const { home, project } = place
  const env = cleanEnv(place)
  const harness = await boot({ profile: 'headless', home, env, cwd: project })
  try {
    registerBench(harness)
    const rows: Row[] = []
    for (const messages of [10, 1_000]) {
      const samples: number[] = []
      // As for processes, the first round only warms up.
      for (let round = 0; round <= ROUNDS; round += 1) {
        const ms = await stepOverhead(harness, place, messages)
        if (round > 0) samples.push(ms)
      }
      const row: Row = { name: `step: CPU at ${messages} messages`, unit: 'ms', samples }
      // A long request takes long to write down, whoever does it.
      rows.push(messages > 10 ? row : { ...row, limit: { of: 'median', at: 5 } })
    }
    rows.push(await appends(harness, place, true), await appends(harness, place, false))
    rows.push(await opens(harness, place))
    return rows
  } finally {
    await harness.close()
  }
}

/** A model that answers at once with a call of a tool that does nothing, and then ends. */
function registerBench({ ctx }: Harness): void {
  let left = 0
  const provider: ModelProvider = {
    id: model.provider,
    displayName: 'Bench',
    api: 'bench',
    available: () => false,
    info: (id) => ({ id, contextWindow: 1e6, maxTokens: 1e3, input: ['text'], declared: true }),
    declared: () => [],
    list: async () => [],
    body: async ({ messages, tools }) => ({ messages: messages.map((one) => one.message), tools }),
    async *stream() {
      left = left === 0 ? STEPS : left
      left -= 1
      const id = `call_${left}`
      if (left > 0) yield { type: 'tool-call', index: 0, id, name: 'nothing', arguments: '{}' }
      else yield { type: 'text', text: 'Done.' }
      yield { type: 'usage', usage: { inputTokens: 1, outputTokens: 1 } }
      yield { type: 'finish', reason: left > 0 ? 'tool-calls' : 'stop' }
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
}

function exchange(at: number): NewFact[] {
  const turn = { turn: 1, step: 1, attempt: 1, finish: 'stop' }
  const source = { kind: 'model', ...model } as const
  const text = `Message ${at}: ${'some words of ordinary length '.repeat(10)}`
  return [
    userMessage({ message: textMessage(`u${at}`, 'user', text, { kind: 'user' }) }),
    assistantMessage({ ...turn, message: textMessage(`a${at}`, 'assistant', text, source) }),
  ]
}

async function makeSession(harness: Harness, place: Place, messages: number): Promise<Session> {
  const session = await harness.ctx.sessions.create({ project: place.project, depth: 0 })
  for (let at = 0; at < messages / 2; at += 1) await session.append(exchange(at), { sync: false })
  return session
}

/** Milliseconds of CPU for each step of one turn, the model and the tool being free. */
async function stepOverhead(harness: Harness, place: Place, messages: number): Promise<number> {
  const session = await makeSession(harness, place, messages)
  const agent = await harness.ctx.agents.spawn({
    session,
    choice: { model: `${model.provider}/${model.model}`, params: {} },
    authority: { mode: 'workspace-write', writableRoots: [place.project] },
  })
  await agent.send('Begin', { wake: false })
  const before = process.cpuUsage()
  const outcome = await agent.wake()
  const { user, system } = process.cpuUsage(before)
  if (outcome?.reason !== 'completed') throw new Error(JSON.stringify(outcome))
  await agent.close()
  return (user + system) / 1000 / STEPS
}

async function appends(harness: Harness, place: Place, sync: boolean): Promise<Row> {
  const session = await makeSession(harness, place, 0)
  const samples: number[] = []
  for (let at = 0; at < APPENDS; at += 1) {
    const [fact] = exchange(at)
    const begin = performance.now()
    await session.append(fact ? [fact] : [], { sync })
    samples.push((performance.now() - begin) * 1000)
  }
  await session.close()
  const name = sync ? 'append, on the disk' : 'append, written'
  return { name, unit: 'us', samples }
}

async function opens(harness: Harness, place: Place): Promise<Row> {
  const session = await makeSession(harness, place, FACTS)
  await session.close()
  const samples: number[] = []
  for (let at = 0; at < OPENS; at += 1) {
    const begin = performance.now()
    const opened = await harness.ctx.sessions.open(session.id)
    samples.push(performance.now() - begin)
    if (opened.surface.length !== FACTS) throw new Error('the session is not whole')
    await opened.close()
  }
  return { name: `open a session of ${FACTS} facts`, unit: 'ms', samples }
}
