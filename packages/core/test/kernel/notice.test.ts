import { defineNotice, definePlugin, mount, openScope } from '@cordage/core/kernel'
import { describe, expect, it } from 'vitest'
import { fixture, pause } from './fixture.ts'

const timeoutMs = 1000

describe('a notice', () => {
  it('reaches the other listeners and the emitter past failing ones, which are logged', async () => {
    const { root, trail, errors } = fixture()
    const notice = defineNotice<string>('test/happened')
    const plugin = definePlugin({
      name: 'bad',
      apply: (ctx) => {
        notice.use(ctx, () => {
          throw new Error('sync')
        })
        notice.use(ctx, () => Promise.reject(new Error('async')))
        notice.use(ctx, (payload) => trail.push(payload))
      },
    })
    await mount(root, { id: 'bad', plugin, config: {}, timeoutMs }).settled()
    notice.emit(root, 'news')
    expect(trail).toEqual(['news'])
    await pause()
    expect(errors()).toEqual([
      'a listener of test/happened failed row=bad error=Error: sync',
      'a listener of test/happened failed row=bad error=Error: async',
    ])
  })

  it('is not heard after its plugin unloaded', async () => {
    const { root, trail } = fixture()
    const notice = defineNotice<string>('test/happened')
    const plugin = definePlugin({
      name: 'p',
      apply: (ctx) => void notice.use(ctx, (payload) => trail.push(payload)),
    })
    const row = mount(root, { id: 'p', plugin, config: {}, timeoutMs })
    await row.settled()
    await row.dispose()
    notice.emit(root, 'news')
    expect(trail).toEqual([])
  })

  it('is heard in its scope and below, and by listeners outside of scopes', () => {
    const { root, trail } = fixture()
    const notice = defineNotice<string>('test/happened')
    const parent = openScope(root, 'parent')
    const child = openScope(root, 'child', parent)
    notice.use(root, (payload) => trail.push(`root:${payload}`))
    notice.use(parent.ctx, (payload) => trail.push(`parent:${payload}`))
    notice.use(root, (payload) => trail.push(`child:${payload}`), { scope: child })
    notice.emit(root, 'global')
    notice.emit(root, 'p', parent)
    notice.emit(child.ctx, 'c')
    expect(trail.sort()).toEqual([
      'child:c',
      'parent:c',
      'parent:p',
      'root:c',
      'root:global',
      'root:p',
    ])
  })
})
