import { findModel, type ModelProvider } from '@cordage/core/model'
import { definePlugin } from '@cordage/core/kernel'
import { afterEach, expect, it } from 'vitest'
import { bench, type Bench } from './boot.ts'

let made: Bench
afterEach(() => made.close())

/** A route whose unknown models have a window that an answer may fill. */
const odd: ModelProvider = {
  id: 'odd',
  displayName: 'Odd',
  api: 'none',
  available: () => true,
  info: (id) => ({ ...findModel([], id), contextWindow: 2_000, maxTokens: 2_000 }),
  declared: () => [],
  list: async () => [],
  body: async () => expect.fail('a body was made'),
  // oxlint-disable-next-line require-yield
  async *stream() {
    expect.fail('a request was sent')
  },
}
const plugin = definePlugin({
  name: 'odd-models',
  inject: ['models'],
  apply: (ctx) => ctx.models.register(ctx, odd),
})

it('a model that leaves no room for a request is refused before one is made', async () => {
  made = await bench([], { rows: [{ plugin }], choice: { model: 'odd/any' } })
  await made.agent.send('one', { wake: false })
  expect(await made.agent.wake()).toMatchObject({
    reason: 'error',
    error: {
      code: 'MODEL_WINDOW_TOO_SMALL',
      message: expect.stringContaining('odd/any has a window of 2000 tokens'),
    },
  })
  expect(made.session.inbox.map(({ message }) => message.content)).toHaveLength(1)
})

it('and has room once less is asked of it', async () => {
  const { effectiveParams } = await import('../../src/loop/params.ts')
  made = await bench([], { rows: [{ plugin }] })
  const model = made.root.models.resolve('odd/any')
  expect(effectiveParams({ maxTokens: 500 }, model)).toEqual({ maxTokens: 500 })
})
