import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { hearDeltas, openBench, spawnAt, type Bench } from './bench.ts'
import { startCpu } from './own-time.ts'
import type { Row } from './row.ts'

const DELTAS = 50_000
const ROUNDS = 10
/** Rounds that are not counted: code that runs for the first time is slower. */
const WARM_UP = 3

/** Reads one answer with nothing but the SDK; says how many characters came. */
type Read = (origin: string) => Promise<number>

interface Sdk {
  readonly name: string
  readonly model: string
  readonly read: Read
}

const asked = { model: 'many', stream: true } as const
const messages = [{ role: 'user', content: 'Begin' } as const]

const sdks: readonly Sdk[] = [
  {
    name: 'Chat Completions',
    model: 'bench-chat/many',
    read: async (origin) => {
      const client = new OpenAI({ baseURL: `${origin}/v1`, apiKey: 'none' })
      let count = 0
      for await (const chunk of await client.chat.completions.create({ ...asked, messages })) {
        count += chunk.choices[0]?.delta.content?.length ?? 0
      }
      return count
    },
  },
  {
    name: 'Responses',
    model: 'bench-responses/many',
    read: async (origin) => {
      const client = new OpenAI({ baseURL: `${origin}/v1`, apiKey: 'none' })
      let count = 0
      for await (const event of await client.responses.create({ ...asked, input: 'Begin' })) {
        if (event.type === 'response.output_text.delta') count += event.delta.length
      }
      return count
    },
  },
  {
    name: 'Messages',
    model: 'bench-messages/many',
    read: async (origin) => {
      const client = new Anthropic({ baseURL: origin, apiKey: 'none' })
      const asking = { ...asked, messages, max_tokens: 1_000 }
      let count = 0
      for await (const event of await client.messages.create(asking)) {
        if (event.type !== 'content_block_delta') continue
        if (event.delta.type === 'text_delta') count += event.delta.text.length
      }
      return count
    },
  },
]

/**
 * CPU of a whole turn whose answer streams through an SDK to one subscriber and the live lane,
 * beside that of the SDK alone, in turn with it in the same process. Nine tenths of the throughput
 * are ten ninths of the time.
 */
export async function measureSdks(): Promise<Row[]> {
  await using server = await startServer()
  const folder = mkdtempSync(join(tmpdir(), 'cordage-bench-'))
  const patch = join(folder, 'routes.yml')
  writeFileSync(patch, routes(server.origin))
  await using bench = await openBench({ patch })
  rmSync(folder, { recursive: true })
  const rows: Row[] = []
  for (const sdk of sdks) rows.push(await measureSdk(bench, sdk, server.origin))
  return rows
}

async function measureSdk(bench: Bench, { name, model, read }: Sdk, origin: string): Promise<Row> {
  const samples: number[] = []
  const bare: number[] = []
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    const [mine, theirs] = [await takeTurn(bench, model), await readBare(read, origin)]
    if (round < 0) continue
    samples.push(mine)
    bare.push(theirs)
  }
  const limit = { of: 'ratio', at: 1.11 } as const
  return { name: `${DELTAS} deltas: ${name}`, unit: 'ms', samples, bare, than: 'the SDK', limit }
}

async function takeTurn(bench: Bench, model: string): Promise<number> {
  const agent = await spawnAt(bench, 0, model)
  await agent.send('Begin', { wake: false })
  const cpu = startCpu()
  const { characters } = await hearDeltas(bench, agent)
  const ms = cpu()
  await agent.close()
  assertAll(characters)
  return ms
}

async function readBare(read: Read, origin: string): Promise<number> {
  const cpu = startCpu()
  const heard = await read(origin)
  const ms = cpu()
  assertAll(heard)
  return ms
}

function assertAll(characters: number): void {
  const all = DELTAS * ' word'.length
  if (characters !== all) throw new Error(`${characters} of ${all} characters were heard`)
}

async function startServer() {
  const script = join(import.meta.dirname, 'delta-server.ts')
  const stdio = ['pipe', 'pipe', 'inherit'] as const
  const server = spawn(process.execPath, [script, `${DELTAS}`], { stdio: [...stdio] })
  const [port] = (await once(server.stdout!, 'data')) as [Buffer]
  const close = async () => {
    server.stdin!.end()
    await once(server, 'exit')
  }
  return { origin: `http://127.0.0.1:${Number(port)}`, [Symbol.asyncDispose]: close }
}

/** Routes without a key, on a machine of our own. */
function routes(origin: string): string {
  const models = `models: [{ id: many, contextWindow: 1000000, maxTokens: 1000 }]`
  const route = (id: string, api: string, path: string) =>
    `      ${id}: { displayName: Bench, api: ${api}, baseURL: '${origin}${path}', ${models} }`
  return [
    '- id: model-openai',
    '  merge:',
    '    providers:',
    route('bench-chat', 'openai-completions', '/v1'),
    route('bench-responses', 'openai-responses', '/v1'),
    '- id: model-anthropic',
    '  merge:',
    '    providers:',
    route('bench-messages', 'anthropic-messages', ''),
    '',
  ].join('\n')
}
