import { createRoot, footprint, mount } from '@cordage/core/kernel'
import plugin, { findModel, type ModelInfo, type ModelProvider } from '@cordage/core/model'
import { describe, expect, it } from 'vitest'

const timeoutMs = 1_000

function route(id: string, available: boolean, ids: readonly string[] = ['m']): ModelProvider {
  const declared: ModelInfo[] = ids.map((model) => ({ ...findModel([], model), declared: true }))
  return {
    id,
    displayName: id,
    api: 'none',
    available: () => available,
    info: (model) => findModel(declared, model),
    declared: () => declared,
    list: async () => ids,
    body: async () => ({}),
    stream: async function* () {},
  }
}

async function boot(...routes: [ModelProvider, number?][]) {
  const root = createRoot()
  await mount(root, { id: 'core-model', plugin, config: {}, timeoutMs }).settled()
  const row = mount(root, {
    id: 'model-test',
    plugin: {
      name: 'model-test',
      inject: ['models'],
      apply: (ctx: typeof root) => {
        for (const [provider, order = 0] of routes) ctx.models.register(ctx, provider, { order })
      },
    },
    config: {},
    timeoutMs,
  })
  return { root, row, state: await row.settled() }
}

describe('ctx.models', () => {
  it('takes no route whose declared answers may take all of a window', async () => {
    const known = { ...findModel([], 'm'), contextWindow: 4_096, maxTokens: 4_096, declared: true }
    const { state } = await boot([{ ...route('odd', true), declared: () => [known] }])
    const message = expect.stringContaining('odd/m has a window of 4096 tokens')
    expect(state).toMatchObject({
      state: 'failed',
      error: { code: 'MODEL_WINDOW_TOO_SMALL', message },
    })
  })

  it('resolves names whose model id has slashes', async () => {
    const { root } = await boot([route('hub', true)])
    expect(root.models.resolve('hub/acme/tiny:7b')).toMatchObject({
      provider: 'hub',
      model: 'acme/tiny:7b',
      info: { id: 'acme/tiny:7b', declared: false },
    })
  })

  it.each(['hub', 'hub/', '/m', '', ' hub/m', 'hub/m '])('refuses the name "%s"', async (name) => {
    const { root } = await boot([route('hub', true)])
    expect(() => root.models.resolve(name)).toThrow(
      expect.objectContaining({ code: 'MODEL_NAME_INVALID' }),
    )
  })

  it('names the known providers, the likeliest first', async () => {
    const { root } = await boot([route('anthropic', true)], [route('openai', true)])
    expect(() => root.models.resolve('opneai/gpt')).toThrow(/Known: openai, anthropic/)
  })

  it('takes the first available provider that declares a model as the default', async () => {
    const { root } = await boot(
      [route('last', true), 30],
      [route('bare', true, []), 20],
      [route('away', false), 10],
    )
    expect(root.models.default()).toMatchObject({ provider: 'last', model: 'm' })
    const none = await boot([route('away', false)])
    expect(none.root.models.default()).toBeUndefined()
  })

  it('refuses an id that is not lower case, and one that is there', async () => {
    expect((await boot([route('Open', true)])).state.state).toBe('failed')
    const { state } = await boot([route('hub', true)], [route('hub', true)])
    expect(state.state === 'failed' && state.error.message).toMatch(/hub.*already registered/)
  })

  it('forgets the providers of a row that unloads', async () => {
    const { root, row } = await boot([route('hub', true)])
    const full = footprint(root)
    await row.dispose()
    expect(root.models.providers()).toEqual([])
    expect(footprint(root)).not.toEqual(full)
  })
})
