import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  startModelPeer,
  streamReply,
  type ModelPeer,
} from '../../packages/kit/testkit/src/model-peer.ts'
import { encodeAnswer } from '../../packages/kit/testkit/src/model-wire.ts'
import { startCli } from '../e2e/fixture/cli.ts'
import { cordageBin, packed } from '../e2e/fixture/installation.ts'
import { makePlace, repository, type Place } from '../e2e/fixture/place.ts'
import type { Row } from './row.ts'

const ROUNDS = 10
const sources = join(repository, 'packages/frontends/cli/bin/cordage.js')

/** Whole processes: how long until they are done or until their first request is on the wire. */
export async function measureProcesses(): Promise<Row[]> {
  await using place = await makePlace()
  const wire = await openWire()
  try {
    const bin = packedBin()
    const samples = await inTurn({
      bare: () => timeNode(),
      version: () => timeCli(place, bin, '--version'),
      help: () => timeCli(place, bin, '--help'),
      request: () => timeToRequest(place, wire, bin),
      ownVersion: () => timeCli(place, sources, '--version'),
      ownHelp: () => timeCli(place, sources, '--help'),
      ownRequest: () => timeToRequest(place, wire, sources),
    })
    const { bare, ownVersion, ownHelp, ownRequest } = samples
    const quick = { bare, unit: 'ms', limit: { of: 'ratio', at: 1.5 } } as const
    const start = { bare, unit: 'ms', limit: { of: 'ratio', at: 8 } } as const
    const fromSources = { bare, unit: 'ms', limit: { of: 'ratio', at: 13 } } as const
    return [
      { name: 'node -e 0', unit: 'ms', samples: bare },
      { name: 'packed: --version', samples: samples.version, ...quick },
      { name: 'packed: --help', samples: samples.help, ...quick },
      { name: 'packed: start to first request', samples: samples.request, ...start },
      await peakRow('packed: peak memory of a short run', place, wire, bin, 95),
      { name: 'cordage --version', unit: 'ms', samples: ownVersion, bare },
      { name: 'cordage --help', unit: 'ms', samples: ownHelp, bare },
      { name: 'headless: start to first request', samples: ownRequest, ...fromSources },
      await peakRow('headless: peak memory of a short run', place, wire, sources, 115),
      { name: 'request for "hi"', ...(await requestSize(place, wire, bin)) },
    ]
  } finally {
    await wire.peer.close()
  }
}

/** scripts/bench.mjs made it. */
function packedBin(): string {
  if (packed === undefined) throw new Error('CORDAGE_PACKED names no installation: npm run bench')
  return cordageBin
}

/**
 * The first round fills the compile cache; the others are taken in turn, so that what else the
 * machine does falls on all of them alike.
 */
async function inTurn<K extends string>(
  kinds: Record<K, () => Promise<number>>,
): Promise<Record<K, number[]>> {
  const names = Object.keys(kinds) as K[]
  const samples = Object.fromEntries(names.map((name) => [name, [] as number[]]))
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const name of names) {
      const ms = await kinds[name]()
      if (round > 0) samples[name]?.push(ms)
    }
  }
  return samples as Record<K, number[]>
}

async function peakRow(
  name: string,
  place: Place,
  wire: Wire,
  bin: string,
  at: number,
): Promise<Row> {
  const samples: number[] = []
  for (let round = 0; round < 3; round += 1) samples.push(await peakMemory(place, wire, bin))
  return { name, unit: 'MB', samples, limit: { of: 'median', at } }
}

async function requestSize(place: Place, { peer }: Wire, bin: string): Promise<Omit<Row, 'name'>> {
  peer.requests.length = 0
  await startCli(place, ['hi'], { bin, env: { DEEPSEEK_BASE_URL: `${peer.url}/v1` } }).ended
  const samples = peer.requests.map(({ text }) => Buffer.byteLength(text) / 1000)
  return { unit: 'KB', samples, limit: { of: 'median', at: 10 } }
}

interface Wire {
  readonly peer: ModelPeer
  /** Resolves when the next request arrives. */
  next(): Promise<void>
}

async function openWire(): Promise<Wire> {
  const peer = await startModelPeer()
  let arrived = () => {}
  const answer = streamReply(encodeAnswer('openai-completions', { text: ['Hello.'] }))
  peer.reply((response, request) => {
    arrived()
    return answer(response, request)
  })
  return { peer, next: () => new Promise((resolve) => (arrived = resolve)) }
}

async function timeNode(): Promise<number> {
  const begin = performance.now()
  const child = spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' })
  await new Promise((resolve) => child.once('close', resolve))
  return performance.now() - begin
}

async function timeCli(place: Place, bin: string, ...args: string[]): Promise<number> {
  const begin = performance.now()
  const { code, stderr } = await startCli(place, args, { bin }).ended
  if (code !== 0) throw new Error(stderr)
  return performance.now() - begin
}

async function timeToRequest(place: Place, wire: Wire, bin: string): Promise<number> {
  const begin = performance.now()
  const arrived = wire.next()
  const { ended } = startCli(place, ['Say hello'], { bin, env: routeTo(wire) })
  const failed = ended.then(({ stderr }) => Promise.reject(new Error(stderr)))
  await Promise.race([arrived, failed])
  const ms = performance.now() - begin
  await ended
  return ms
}

async function peakMemory(place: Place, wire: Wire, bin: string): Promise<number> {
  const file = join(place.base, 'peak')
  const code = `import { writeFileSync } from 'node:fs'
    process.on('exit', () => writeFileSync('${file}', String(process.resourceUsage().maxRSS)))`
  const option = `--import=data:text/javascript,${encodeURIComponent(code)}`
  const env = { ...routeTo(wire), NODE_OPTIONS: option }
  const { code: exit, stderr } = await startCli(place, ['Say hello'], { bin, env }).ended
  if (exit !== 0) throw new Error(stderr)
  return Number(readFileSync(file, 'utf8')) / 1024
}

function routeTo({ peer }: Wire): Record<string, string> {
  return { DEEPSEEK_BASE_URL: `${peer.url}/v1` }
}
