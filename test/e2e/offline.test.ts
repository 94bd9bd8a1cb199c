import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostname, networkInterfaces, userInfo } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { needs } from '../fixture/needs.ts'
import { cleanEnv, runCli } from './fixture/cli.ts'
import { cordageBin } from './fixture/installation.ts'
import { makePlace, type Place } from './fixture/place.ts'
import { sessionIds } from './fixture/read-log.ts'

const watch = join(import.meta.dirname, 'fixture/watch-network.mjs')

/** What works without any network. */
const local: [name: string, args: string[]][] = [
  ['config check', ['config', 'check']],
  ['doctor --offline', ['doctor', '--offline']],
  ['models list', ['models', 'list']],
  ['a recorded run', ['--model', 'scripted/fix-a-bug', 'Fix the failing test']],
]
const env = { DEEPSEEK_API_KEY: 'sk-0123456789abcdef' }

describe('without a network', () => {
  it.for(local)('%s does what it does', async ([, args], test) => {
    // No interface of this network namespace is up, not even the loopback one.
    needs(test, 'network namespaces')
    await using place = await makePlace()
    const { status, stderr } = spawnSync(
      'unshare',
      ['-rn', process.execPath, cordageBin, ...args],
      {
        cwd: place.project,
        env: cleanEnv(place, env),
        encoding: 'utf8',
      },
    )
    expect(status, stderr).toBe(0)
  })
})

describe('the network', () => {
  it('is not touched by anything but a request to a model', async () => {
    await using place = await makePlace()
    const file = join(place.base, 'network.txt')
    const more = { ...env, NETWORK_WATCH: file, NODE_OPTIONS: `--import ${watch}` }
    for (const [, args] of local) {
      const { code, stderr } = await runCli(place, args, { env: more })
      expect(code, stderr).toBe(0)
    }
    expect(existsSync(file)).toBe(false)
    await using server = await gateway()
    const asked = { ...more, OPENAI_BASE_URL: server.url }
    await runCli(place, ['--model', 'openai/any', 'Say ready'], { env: asked })
    const attempts = readFileSync(file, 'utf8').trim().split('\n')
    expect(attempts).toHaveLength(1)
    expect(attempts[0]).toContain(new URL(server.url).port)
  })
})

interface Seen {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A gateway that answers each protocol with one word, and keeps all it was sent. */
async function gateway() {
  const seen: Seen[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => {
      seen.push({ headers: request.headers, body })
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(request.url === '/v1/messages' ? anthropic() : completions())
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  return { url, seen, [Symbol.asyncDispose]: async () => void server.close() }
}

function completions(): string {
  const choice = { index: 0, delta: { content: 'ready' }, finish_reason: 'stop' }
  return `data: ${JSON.stringify({ choices: [choice] })}\n\ndata: [DONE]\n\n`
}

function anthropic(): string {
  const usage = { input_tokens: 1, output_tokens: 1 }
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage }
  const events = [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'ready' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
    { type: 'message_stop' },
  ]
  return events.map((e) => `event: ${e.type}\ndata: ${JSON.stringify(e)}\n\n`).join('')
}

/** Who and where this is: none of it is a gateway's business. */
function identifiers(place: Place, marks: Record<string, string>): string[] {
  const machine = ['/etc/machine-id', '/var/lib/dbus/machine-id'].filter((path) => existsSync(path))
  const addresses = Object.values(networkInterfaces()).flatMap((list = []) => {
    return list.filter(({ internal }) => !internal).flatMap(({ mac, address }) => [mac, address])
  })
  return [
    ...sessionIds(place.home),
    ...Object.values(marks),
    hostname(),
    // A text about a project may well say `root`.
    ...(userInfo().username === 'root' ? [] : [userInfo().username]),
    ...machine.map((path) => readFileSync(path, 'utf8').trim()),
    ...addresses,
    place.home,
  ].filter((word) => word.length > 3)
}

describe('a gateway', () => {
  it.each([
    ['openai-completions', 'openai/any', (url: string) => ({ OPENAI_BASE_URL: url })],
    ['anthropic-messages', 'anthropic/any', (url: string) => ({ ANTHROPIC_BASE_URL: url })],
  ])('that speaks %s is told nothing of who or where this is', async (_, model, base) => {
    await using place = await makePlace('empty')
    await using server = await gateway()
    const marks = {
      USER: 'zaphod-user',
      LOGNAME: 'zaphod-login',
      HOSTNAME: 'heart-of-gold',
      X: randomUUID(),
    }
    const args = ['--model', model, 'Say ready']
    for (const turn of [args, ['continue', 'Again']]) {
      const url = base(model.startsWith('anthropic') ? server.url.replace('/v1', '') : server.url)
      const { code, stderr } = await runCli(place, turn, { env: { ...marks, ...url } })
      expect(code, stderr).toBe(0)
    }
    // One for each turn: no request for a title, nothing on the side.
    expect(server.seen).toHaveLength(2)
    const sent = JSON.stringify(server.seen)
    const words = identifiers(place, marks)
    expect(words.length).toBeGreaterThan(5)
    expect(words.filter((word) => sent.includes(word))).toEqual([])
    for (const { headers, body } of server.seen) {
      expect(headers['user-agent']).toBe('cordage')
      expect(Object.keys(headers).filter((name) => !HEADERS.includes(name))).toEqual([])
      const fields = Object.keys(JSON.parse(body) as object)
      expect(fields.filter((field) => IDENTIFYING.includes(field))).toEqual([])
    }
  })
})

const HEADERS = [
  'host',
  'connection',
  'accept',
  'accept-encoding',
  'accept-language',
  'anthropic-version',
  'content-length',
  'content-type',
  'sec-fetch-mode',
  'user-agent',
]

const IDENTIFYING = ['user', 'metadata', 'safety_identifier', 'prompt_cache_key', 'store']
