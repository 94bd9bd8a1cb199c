import {
  createRegistry,
  defineHook,
  defineNotice,
  definePlugin,
  footprint,
  mount,
  openScope,
  own,
} from '@cordage/core/kernel'
import { describe, expect, it } from 'vitest'
import { fixture } from './fixture.ts'

const timeoutMs = 1000

describe('the footprint', () => {
  it('is the same after fifty mounts and unmounts of a plugin that uses everything', async () => {
    const { root } = fixture()
    const hook = defineHook<string, string>('test/hook')
    const notice = defineNotice<string>('test/notice')
    const registry = createRegistry<number>('thing')
    const plugin = definePlugin({
      name: 'busy',
      provides: ['testDb'],
      apply: (ctx) => {
        own(ctx, 'testDb', { query: () => '' }, () => {})
        hook.use(ctx, (_, next) => next())
        notice.use(ctx, () => {})
        registry.add(ctx, 'a', 1)
        registry.onChange(ctx, () => {})
        ctx.on('internal/status', () => {})
        ctx.inject(['testCache'], () => {})
        registry.add(openScope(ctx, 'agent').ctx, 'b', 2)
      },
    })
    const before = footprint(root)
    for (let round = 0; round < 50; round++) {
      const row = mount(root, { id: 'busy', plugin, config: {}, timeoutMs })
      expect(await row.settled()).toEqual({ state: 'active' })
      if (round === 0) expect(footprint(root)).not.toEqual(before)
      await row.dispose()
    }
    expect(footprint(root)).toEqual(before)
  })

  it('is the same after rows that fail, hang or wait', async () => {
    const { root } = fixture()
    const plugins = [
      definePlugin({ name: 'failing', apply: () => Promise.reject(new Error('no')) }),
      definePlugin({ name: 'hung', apply: () => new Promise(() => {}) }),
      definePlugin({ name: 'waiting', inject: ['testDb'], apply: () => {} }),
    ]
    const before = footprint(root)
    for (const plugin of plugins) {
      const row = mount(root, { id: plugin.name, plugin, config: {}, timeoutMs: 20 })
      await row.settled()
      await row.dispose()
    }
    expect(footprint(root)).toEqual(before)
  })

  it('is the same after scopes opened and closed in one tick', async () => {
    const { root } = fixture()
    const before = footprint(root)
    await Promise.all(Array.from({ length: 50 }, (_, n) => openScope(root, `a${n}`).close()))
    expect(footprint(root)).toEqual(before)
  })
})
