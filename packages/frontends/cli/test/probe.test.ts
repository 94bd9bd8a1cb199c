import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ModelProvider } from '@cordage/core/model'
import { makeProvider as anthropic } from '../../../models/anthropic/test/route.ts'
import { makeProvider as openai } from '../../../models/openai/test/route.ts'
import {
  plainReply,
  startModelPeer,
  streamReply,
  type ModelPeer,
  type PeerReply,
} from '../../../kit/testkit/src/model-peer.ts'
import { encodeAnswer, type WireApi } from '../../../kit/testkit/src/model-wire.ts'
import { isProxied, layerOf } from '../src/probe/layer.ts'
import { probes, type ProbeName } from '../src/probe/probes.ts'
import { runProbe, type ProbeResult } from '../src/probe/run-probe.ts'
import { capableReply } from './capable-peer.ts'

const names = Object.keys(probes) as ProbeName[]
const able = {
  id: 'able',
  input: ['text', 'image'],
  reasoningEfforts: { off: null, low: 'low' },
}

let peer: ModelPeer
beforeEach(async () => void (peer = await startModelPeer()))
afterEach(() => peer.close())

function route(api: WireApi, fields: Record<string, unknown> = {}): ModelProvider {
  const given = { api, baseURL: peer.url, models: [able], ...fields }
  return api === 'anthropic-messages' ? anthropic(given) : openai(given)
}

async function probeAll(provider: ModelProvider, timeoutMs = 10_000): Promise<ProbeResult[]> {
  const results: ProbeResult[] = []
  const options = { route: provider, model: 'able', timeoutMs, env: {} }
  for (const name of names) results.push(await runProbe(name, options))
  return results
}

const states = (results: readonly ProbeResult[]) => {
  return Object.fromEntries(results.map(({ probe, state, layer }) => [probe, layer ?? state]))
}

/** Answers as a capable model does, but for requests whose text `when` finds. */
function except(when: RegExp, reply: PeerReply): PeerReply {
  const able = capableReply('openai-completions', 'able')
  return (response, request) => {
    const hit = when.test(`${request.method} ${request.text}`)
    return (hit ? reply : able)(response, request)
  }
}

describe('probes of a model', () => {
  it.each(['openai-completions', 'openai-responses', 'anthropic-messages'] as const)(
    'are all passed by one that can do everything, by %s',
    async (api) => {
      peer.reply(capableReply(api, 'able'))
      const results = await probeAll(route(api))
      expect(results.filter(({ state }) => state !== 'ok')).toEqual([])
      expect(results.map(({ usage }) => usage.outputTokens)).toEqual([0, 7, 7, 14, 7, 7])
      const sent = peer.requests.map(({ text }) => text)
      expect(sent.filter((text) => text.includes('iVBORw0KGgo'))).toHaveLength(1)
      expect(sent.filter((text) => /"low"/.test(text))).toHaveLength(1)
    },
  )

  it('try neither reasoning nor images of a model that declares none', async () => {
    peer.reply(capableReply('openai-completions', 'able'))
    const results = await probeAll(route('openai-completions', { models: [] }))
    expect(states(results)).toMatchObject({ reasoning: 'skipped', images: 'skipped' })
    expect(peer.requests).toHaveLength(5)
  })

  const answer = (text: string) => streamReply(encodeAnswer('openai-completions', { text: [text] }))
  const calling = (name: string, text: string) => {
    const call = { id: 'c', name, arguments: [text] }
    return streamReply(encodeAnswer('openai-completions', { calls: [call] }))
  }
  it.each<[string, RegExp, PeerReply, Partial<Record<ProbeName, string>>]>([
    ['a list that breaks', /^GET/, plainReply(500, {}), { list: 'http' }],
    ['no list', /^GET/, plainReply(404, {}), { list: 'partial' }],
    ['a list without the model', /^GET/, plainReply(200, { data: [] }), { list: 'partial' }],
    ['no words', /the word: ready/, answer(' '), { text: 'answer' }],
    ['a web page', /the word: ready/, plainReply(200, '<html>'), { text: 'protocol' }],
    ['an answer in one piece', /Count/, answer('1 2 3'), { stream: 'partial' }],
    ['no end', /Count/, streamReply([]), { stream: 'protocol' }],
    ['no call', /read_word/, answer('marigold'), { tools: 'answer' }],
    ['a call of something else', /read_word/, calling('other', '{}'), { tools: 'answer' }],
    ['arguments that are none', /read_word/, calling('read_word', '{'), { tools: 'answer' }],
    ['a refused result', /"tool"/, plainReply(400, {}), { tools: 'http' }],
    ['an ignored result', /"tool"/, answer('done'), { tools: 'partial' }],
    ['a refused effort', /reasoning_effort/, plainReply(400, {}), { reasoning: 'http' }],
    ['a refused image', /image_url/, plainReply(415, {}), { images: 'http' }],
    ['another colour', /image_url/, answer('Blue'), { images: 'answer' }],
  ])('find %s, each on its own', async (_, when, reply, expected) => {
    peer.reply(except(when, reply))
    const all = Object.fromEntries(names.map((name) => [name, 'ok']))
    expect(states(await probeAll(route('openai-completions')))).toEqual({ ...all, ...expected })
  })
})

describe('the layer that failed', () => {
  const listening = async (fields: Record<string, unknown>) => {
    const [first] = await probeAll(route('openai-completions', fields), 2_000)
    return first
  }

  it('is the name, the connection or the credential', async () => {
    expect(await listening({ baseURL: 'http://nowhere.invalid/v1' })).toMatchObject({
      layer: 'dns',
    })
    expect(await listening({ baseURL: 'http://127.0.0.1:9/v1' })).toMatchObject({
      layer: 'connect',
      exit: 75,
    })
    peer.reply(plainReply(401, {}))
    expect(await listening({})).toMatchObject({ layer: 'credential', code: 'AUTH', exit: 77 })
  })

  it('is TLS where the server speaks another language', async () => {
    const secure = peer.url.replace('http:', 'https:')
    expect(await listening({ baseURL: secure })).toMatchObject({ layer: 'tls' })
  })

  it('is the connection that was closed without a word', async () => {
    const server = createServer((socket) => socket.destroy())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    expect(await listening({ baseURL: `http://127.0.0.1:${port}` })).toMatchObject({
      layer: 'connect',
    })
    await new Promise((resolve) => server.close(resolve))
  })

  it('is a proxy that stands before the server', async () => {
    const env = { HTTPS_PROXY: 'http://proxy:1', NO_PROXY: 'in.example, 127.0.0.1' }
    expect(isProxied('https://api.example/v1', env)).toBe(true)
    expect(isProxied('https://deep.in.example/v1', env)).toBe(false)
    expect(isProxied('https://127.0.0.1:4/v1', env)).toBe(false)
    expect(isProxied('http://api.example/v1', env)).toBe(false)
    const options = { model: 'able', timeoutMs: 2_000, env: { http_proxy: 'http://proxy:1' } }
    const provider = route('openai-completions', { baseURL: 'http://127.0.0.1:9' })
    expect(await runProbe('text', { ...options, route: provider })).toMatchObject({
      layer: 'proxy',
    })
  })

  it('is found when time is over: nothing came, or not all', async () => {
    const [event = ''] = encodeAnswer('openai-completions', { text: ['a'] }).slice(1)
    peer.reply(streamReply([event], { after: 'hang' }))
    const provider = route('openai-completions')
    const options = { route: provider, model: 'able', timeoutMs: 500, env: {} }
    expect(await runProbe('text', options)).toMatchObject({ code: 'TIMEOUT', layer: 'answer' })
    peer.reset()
    peer.reply(() => {})
    expect(await runProbe('text', options)).toMatchObject({ code: 'TIMEOUT', layer: 'http' })
  })

  it('is what an adapter ignores its signal in, too', async () => {
    const provider = { ...route('openai-completions'), list: () => new Promise<string[]>(() => {}) }
    const options = { route: provider, model: 'able', timeoutMs: 50, env: {} }
    expect(await runProbe('list', options)).toMatchObject({ code: 'TIMEOUT', layer: 'http' })
  })

  it('is the configuration where nothing was sent', () => {
    expect(layerOf(new TypeError('x'), {})).toBe('configuration')
  })
})
