import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { startCapablePeer } from '../../packages/frontends/cli/test/capable-peer.ts'
import { makePlace } from './fixture/place.ts'
import { runCli } from './fixture/warm-cli.ts'

interface Tested {
  readonly model: string
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number }
  readonly probes: readonly { probe: string; state: string; layer?: string; code?: string }[]
}

describe('models test', () => {
  it('says what each probe of a route came to, and what they used', async () => {
    await using place = await makePlace('empty')
    const peer = await startCapablePeer('openai-completions', 'gpt-5.5')
    const env = { OPENAI_BASE_URL: `${peer.url}/v1` }
    const text = await runCli(place, ['models', 'test', 'openai'], { env })
    expect(text.code, text.stdout + text.stderr).toBe(0)
    const lines = text.stdout.trim().split('\n')
    const words = lines.map((line) => line.split(/ +/).slice(0, 2).join(' '))
    expect(words.slice(0, -1)).toEqual([
      'ok list',
      'ok text',
      'ok stream',
      'ok tools',
      'ok reasoning',
      'ok images',
    ])
    expect(lines.at(-1)).toBe(
      `openai/gpt-5.5 by openai-completions at ${peer.url}/v1: ` +
        '120 tokens in and 42 out were used.',
    )
    const args = ['models', 'test', 'openai', 'some/other', '--only', 'list', 'text']
    const json = await runCli(place, [...args, '--output', 'json'], { env })
    const told = JSON.parse(json.stdout) as Tested
    expect(told).toMatchObject({ model: 'openai/some/other', usage: { outputTokens: 7 } })
    expect(told.probes).toMatchObject([
      { probe: 'list', state: 'partial' },
      { probe: 'text', state: 'ok' },
    ])
    await peer.close()
  })

  it('refuses a probe that does not exist', async () => {
    await using place = await makePlace('empty')
    const { code, stderr } = await runCli(place, ['models', 'test', '--only', 'texts'])
    expect({ code, stderr }).toMatchObject({ code: 2 })
    expect(stderr).toContain('The probes are list, text, stream, tools, reasoning, images.')
  })

  it('tells a proxy that refuses from a server that does', async () => {
    await using place = await makePlace('empty')
    const proxy = createServer().on('connect', (_, socket) => {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    })
    proxy.listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const { port } = proxy.address() as AddressInfo
    const env = {
      OPENAI_BASE_URL: 'https://api.example/v1',
      HTTPS_PROXY: `http://127.0.0.1:${port}`,
    }
    const args = ['models', 'test', 'openai', '--only', 'text', '--output', 'json']
    const { code, stdout } = await runCli(place, args, { env })
    const { probes } = JSON.parse(stdout) as Tested
    expect(probes).toMatchObject([{ state: 'failed', layer: 'proxy', code: 'TRANSPORT' }])
    expect(code).toBe(75)
    proxy.close()
  })
})
