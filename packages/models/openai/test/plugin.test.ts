import { createRoot, definePlugin, footprint, mount, own } from '@cordage/core/kernel'
import coreModel from '@cordage/core/model'
import { ask, encodeAnswer, makeRequest, say, startModelPeer, streamReply } from '@cordage/testkit'
import { describe, expect, it } from 'vitest'
import plugin from '../src/index.ts'

const timeoutMs = 2_000

async function boot(env: Record<string, string>, providers: object) {
  const root = createRoot()
  const world = definePlugin({
    name: 'world',
    provides: ['host', 'credentials'],
    apply: (ctx) => {
      own(ctx, 'host', { env, home: '/h', cwd: '/c', version: '0' })
      own(ctx, 'credentials', {
        has: (name) => env[name] !== undefined,
        reveal: (name) => env[name] ?? '',
        redact: (text) => text,
      })
    },
  })
  for (const [id, base] of [
    ['world', world],
    ['core-model', coreModel],
  ] as const) {
    await mount(root, { id, plugin: base, config: {}, timeoutMs }).settled()
  }
  const before = footprint(root)
  const row = mount(root, { id: 'model-openai', plugin, config: { providers }, timeoutMs })
  return { root, row, before, state: await row.settled() }
}

const deepseek = {
  displayName: 'DeepSeek',
  api: 'openai-completions',
  baseURL: 'https://api.deepseek.com',
  baseURLEnv: 'DEEPSEEK_BASE_URL',
  apiKeyEnv: 'DEEPSEEK_API_KEY',
  models: [{ id: 'deepseek-v4-flash' }],
  order: 10,
}
const openai = { ...deepseek, displayName: 'OpenAI', apiKeyEnv: 'OPENAI_API_KEY', order: 20 }

describe('model-openai', () => {
  it('adds every configured provider and leaves nothing behind', async () => {
    const { root, row, before } = await boot({}, { openai, deepseek })
    expect(root.models.providers().map(({ id }) => id)).toEqual(['deepseek', 'openai'])
    await row.dispose()
    expect(footprint(root)).toEqual(before)
  })

  it('offers the first provider that has a key as the default', async () => {
    expect((await boot({}, { openai, deepseek })).root.models.default()).toBeUndefined()
    const { root } = await boot({ OPENAI_API_KEY: 'k' }, { openai, deepseek })
    expect(root.models.default()?.provider).toBe('openai')
  })

  it('reaches a server of the person without a key, at exactly the joined URL', async () => {
    const peer = await startModelPeer()
    peer.reply(streamReply(encodeAnswer('openai-completions', { text: ['Hi'] })))
    const env = { DEEPSEEK_BASE_URL: `${peer.url}/custom/v9/` }
    const { root } = await boot(env, { deepseek })
    const chosen = root.models.default()
    expect(chosen?.model).toBe('deepseek-v4-flash')
    await ask(chosen!.route, makeRequest('deepseek', chosen!.model, [say.user('hi')]))
    expect(peer.requests.map(({ path }) => path)).toEqual(['/custom/v9/chat/completions'])
    expect(peer.requests[0]?.headers).not.toHaveProperty('authorization')
    await peer.close()
  })

  it('speaks another protocol to a server of the person where the route says so', async () => {
    const vendor = { ...openai, api: 'openai-responses', redirectedApi: 'openai-completions' }
    const api = async (env: Record<string, string>) =>
      (await boot(env, { openai: vendor })).root.models.resolve('openai/m').route.api
    expect(await api({ OPENAI_API_KEY: 'k' })).toBe('openai-responses')
    expect(await api({ DEEPSEEK_BASE_URL: 'http://127.0.0.1:9' })).toBe('openai-completions')
  })

  it('gives up on a server that sends no head of an answer in time', async () => {
    const peer = await startModelPeer()
    peer.reply(() => {})
    const team = { ...openai, baseURL: peer.url, apiKeyEnv: undefined, timeoutMs: 20 }
    const { root } = await boot({}, { team })
    const { route } = root.models.resolve('team/m')
    const asked = ask(route, makeRequest('team', 'm', [say.user('hi')]))
    await expect(asked).rejects.toMatchObject({ code: 'TIMEOUT', retryable: true })
    await peer.close()
  })

  it('refuses a provider that another row has already', async () => {
    const { root } = await boot({}, { team: openai })
    const config = { providers: { team: openai } }
    const second = await mount(root, { id: 'second', plugin, config, timeoutMs }).settled()
    const error = second.state === 'failed' ? second.error : undefined
    expect(String((error as Error).cause)).toContain('"team"')
    expect(root.models.providers().map(({ id }) => id)).toEqual(['team'])
  })

  it('refuses a provider id in capitals and an unknown field', async () => {
    for (const providers of [{ OpenAI: openai }, { openai: { ...openai, tokens: 1 } }]) {
      expect((await boot({}, providers)).state.state).toBe('failed')
    }
  })
})
