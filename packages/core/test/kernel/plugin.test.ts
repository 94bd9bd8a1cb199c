import { definePlugin, mount, own, type Context } from '@cordage/core/kernel'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { fixture } from './fixture.ts'

const timeoutMs = 1000
const testDb = { query: () => 'row' }

describe('definePlugin', () => {
  it('lets a plugin read what it injects and nothing else', async () => {
    const { root, trail } = fixture()
    own(root, 'testDb', testDb)
    const plugin = definePlugin({
      name: 'reader',
      inject: ['testDb'],
      config: z.strictObject({ times: z.number().default(2) }),
      apply: (ctx, config) => {
        expectTypeOf(config).toEqualTypeOf<{ times: number }>()
        expectTypeOf(ctx).toExtend<Context>()
        // @ts-expect-error testCache is not injected
        expect(() => ctx.testCache).toThrow('without inject')
        expect(ctx.get('testCache')).toBeUndefined()
        trail.push(ctx.testDb.query().repeat(config.times))
      },
    })
    const row = mount(root, { id: 'reader', plugin, config: {}, timeoutMs })
    expect(await row.settled()).toEqual({ state: 'active' })
    expect(trail).toEqual(['rowrow'])
  })

  it('takes no config unless it declares one', async () => {
    const { root } = fixture()
    const plugin = definePlugin({ name: 'plain', apply: () => {} })
    const state = await mount(root, { id: 'plain', plugin, config: { a: 1 }, timeoutMs }).settled()
    expect(state.state === 'failed' && state.error.message).toBe(
      'plain: config: Unrecognized key: "a"',
    )
  })

  it('fails a plugin that does not provide what it declares', async () => {
    const { root } = fixture()
    const plugin = definePlugin({ name: 'liar', provides: ['testDb'], apply: () => {} })
    const state = await mount(root, { id: 'liar', plugin, config: {}, timeoutMs }).settled()
    expect(state.state === 'failed' && state.error.message).toBe(
      'liar: liar declares but does not provide testDb',
    )
  })

  it('fails a plugin that provides more than it declares, and takes the service back', async () => {
    const { root } = fixture()
    const plugin = definePlugin({ name: 'giver', apply: (ctx) => own(ctx, 'testDb', testDb) })
    const state = await mount(root, { id: 'giver', plugin, config: {}, timeoutMs }).settled()
    expect(state.state === 'failed' && state.error.message).toBe(
      'giver: giver provides but does not declare testDb',
    )
    expect(root.testDb).toBeUndefined()
  })

  it('ignores what apply returns and awaits it', async () => {
    const { root, trail } = fixture()
    const plugin = definePlugin({
      name: 'odd',
      apply: async () => {
        await Promise.resolve()
        trail.push('awaited')
        return 7
      },
    })
    const row = mount(root, { id: 'odd', plugin, config: {}, timeoutMs })
    expect(await row.settled()).toEqual({ state: 'active' })
    expect(trail).toEqual(['awaited'])
  })

  it('mounts on the container without the composer', async () => {
    const { root, trail } = fixture()
    const plugin = definePlugin({
      name: 'direct',
      config: z.strictObject({ word: z.string() }),
      apply: (_, { word }) => void trail.push(word),
    })
    await root.plugin(plugin, { word: 'hello' })
    expect(trail).toEqual(['hello'])
  })
})
