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
import { makePlace, type Place } from '../e2e/fixture/place.ts'
import type { Row } from './row.ts'

const ROUNDS = 10

/** Whole processes: how long until they are done or until their first request is on the wire. */
export async function measureProcesses(): Promise<Row[]> {
  await using place = await makePlace()
  const wire = await openWire()
  try {
    const kinds = {
      bare: () => timeNode(),
      version: () => timeCli(place, ['--version']),
      help: () => timeCli(place, ['--help']),
      request: () => timeToRequest(place, wire),
    }
    const samples: Record<keyof typeof kinds, number[]> = {
      bare: [],
      version: [],
      help: [],
      request: [],
    }
    // The first round fills the compile cache; the others are taken in turn, so that what else
    // the machine does falls on all of them alike.
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const [kind, measure] of Object.entries(kinds)) {
        const ms = await measure()
        if (round > 0) samples[kind as keyof typeof kinds].push(ms)
      }
    }
    const { bare } = samples
    const memory = [await peakMemory(place, wire), await peakMemory(place, wire)]
    return [
      { name: 'node -e 0', unit: 'ms', samples: bare },
      { name: 'cordage --version', unit: 'ms', samples: samples.version, bare },
      { name: 'cordage --help', unit: 'ms', samples: samples.help, bare },
      { name: 'headless: start to first request', unit: 'ms', samples: samples.request, bare },
      { name: 'headless: peak memory of a short run', unit: 'MB', samples: memory },
    ]
  } finally {
    await wire.peer.close()
  }
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

async function timeCli(place: Place, args: string[]): Promise<number> {
  const begin = performance.now()
  const { code, stderr } = await startCli(place, args).ended
  if (code !== 0) throw new Error(stderr)
  return performance.now() - begin
}

async function timeToRequest(place: Place, wire: Wire): Promise<number> {
  const begin = performance.now()
  const arrived = wire.next()
  const { ended } = startCli(place, ['Say hello'], { env: routeTo(wire) })
  const failed = ended.then(({ stderr }) => Promise.reject(new Error(stderr)))
  await Promise.race([arrived, failed])
  const ms = performance.now() - begin
  await ended
  return ms
}

async function peakMemory(place: Place, wire: Wire): Promise<number> {
  const file = join(place.base, 'peak')
  const code = `import { writeFileSync } from 'node:fs'
    process.on('exit', () => writeFileSync('${file}', String(process.resourceUsage().maxRSS)))`
  const option = `--import=data:text/javascript,${encodeURIComponent(code)}`
  const env = { ...routeTo(wire), NODE_OPTIONS: option }
  const { code: exit, stderr } = await startCli(place, ['Say hello'], { env }).ended
  if (exit !== 0) throw new Error(stderr)
  return Number(readFileSync(file, 'utf8')) / 1024
}

function routeTo({ peer }: Wire): Record<string, string> {
  return { DEEPSEEK_BASE_URL: `${peer.url}/v1` }
}
