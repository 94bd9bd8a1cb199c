import { definePlugin, mount, own } from '@cordage/core/kernel'
import { describe, expect, it } from 'vitest'
import { defer, fixture, pause, settle } from './fixture.ts'

const timeoutMs = 1000

function provider(trail: string[], name = 'db') {
  return definePlugin({
    name,
    provides: ['testDb'],
    apply: (ctx) => {
      let open = true
      own(ctx, 'testDb', { query: () => (open ? 'OK' : 'LOST') }, async () => {
        trail.push('closing')
        await pause()
        open = false
        trail.push('closed')
      })
    },
  })
}

function consumer(trail: string[]) {
  return definePlugin({
    name: 'user',
    inject: ['testDb'],
    apply: (ctx) => {
      const { testDb } = ctx
      ctx.effect(() => async () => {
        trail.push('flush<')
        await pause()
        trail.push(`flush>${testDb.query()}`)
      })
    },
  })
}

describe('an owned provider', () => {
  it('closes only after its consumers have flushed', async () => {
    const { root, trail } = fixture()
    const db = mount(root, { id: 'db', plugin: provider(trail), config: {}, timeoutMs })
    const user = mount(root, { id: 'user', plugin: consumer(trail), config: {}, timeoutMs })
    expect(await settle(db, user)).toEqual(['active', 'active'])
    await db.dispose()
    expect(trail).toEqual(['flush<', 'flush>OK', 'closing', 'closed'])
    expect(user.state()).toEqual({ state: 'waiting', needs: ['testDb'] })
  })

  it('closes after its consumers also when it is updated', async () => {
    const { root, trail } = fixture()
    const db = mount(root, { id: 'db', plugin: provider(trail), config: {}, timeoutMs })
    const user = mount(root, { id: 'user', plugin: consumer(trail), config: {}, timeoutMs })
    await settle(db, user)
    await db.update({})
    expect(await settle(db, user)).toEqual(['active', 'active'])
    expect(trail).toEqual(['flush<', 'flush>OK', 'closing', 'closed'])
  })

  it('closes what was opened when the row is disposed while opening', async () => {
    const { root, trail } = fixture()
    const opened = defer()
    const plugin = definePlugin({
      name: 'slow',
      provides: ['testDb'],
      apply: async (ctx) => {
        await opened.promise
        own(ctx, 'testDb', { query: () => 'OK' }, async () => {
          await pause()
          trail.push('closed')
        })
      },
    })
    const row = mount(root, { id: 'slow', plugin, config: {}, timeoutMs })
    await pause()
    const disposed = row.dispose()
    opened.resolve()
    await disposed
    expect(trail).toEqual(['closed'])
    expect(root.testDb).toBeUndefined()
  })

  it('closes the loser of two providers before its row fails', async () => {
    const { root, trail } = fixture()
    const first = mount(root, { id: 'first', plugin: provider([]), config: {}, timeoutMs })
    await first.settled()
    const second = mount(root, { id: 'second', plugin: provider(trail), config: {}, timeoutMs })
    const state = await second.settled()
    expect(state.state === 'failed' && state.error.message).toMatch(/testDb.*registered at <first>/)
    expect(trail).toEqual(['closing', 'closed'])
  })

  it('logs a failing close and goes on', async () => {
    const { root, errors } = fixture()
    const plugin = definePlugin({
      name: 'bad',
      provides: ['testDb'],
      apply: (ctx) => {
        own(ctx, 'testDb', { query: () => '' }, () => {
          throw new Error('disk gone')
        })
      },
    })
    const row = mount(root, { id: 'bad', plugin, config: {}, timeoutMs })
    await row.settled()
    await row.dispose()
    expect(errors()).toEqual(['closing ctx.testDb failed error=Error: disk gone'])
    expect(root.testDb).toBeUndefined()
  })
})
