import {
  definePlugin,
  mount,
  footprint,
  openScope,
  own,
  scopeOf,
  type Scope,
} from '@cordage/core/kernel'
import { describe, expect, it } from 'vitest'
import { defer, fixture, pause, settle } from './fixture.ts'

const timeoutMs = 1000

function slowDisposer(trail: string[], name: string) {
  return async () => {
    trail.push(`${name}<`)
    await pause()
    trail.push(`${name}>`)
  }
}

async function openWithChild() {
  const f = fixture()
  const { promise, resolve } = defer<Scope>()
  const opener = definePlugin({
    name: 'opener',
    apply: (ctx) => {
      const scope = openScope(ctx, 'agent')
      scope.ctx.effect(() => slowDisposer(f.trail, 'own'))
      openScope(ctx, 'child', scope).ctx.effect(() => slowDisposer(f.trail, 'child'))
      resolve(scope)
    },
  })
  const row = mount(f.root, { id: 'opener', plugin: opener, config: {}, timeoutMs })
  await row.settled()
  return { trail: f.trail, row, scope: await promise }
}

describe('a scope', () => {
  it('is found from every context inside it', async () => {
    const { root } = fixture()
    const scope = openScope(root, 'agent')
    const seen: (Scope | undefined)[] = []
    const plugin = definePlugin({ name: 'p', apply: (ctx) => void seen.push(scopeOf(ctx)) })
    await mount(scope.ctx, { id: 'p', plugin, config: {}, timeoutMs }).settled()
    const nested = openScope(scope.ctx, 'nested')
    expect(seen).toEqual([scope])
    expect(scopeOf(root)).toBeUndefined()
    expect(scopeOf(nested.ctx)).toBe(nested)
    expect(nested.parent).toBe(scope)
  })

  it('closes child scopes and rows newest first, one by one, before its own effects', async () => {
    const { root, trail } = fixture()
    const scope = openScope(root, 'agent')
    scope.ctx.effect(() => slowDisposer(trail, 'own'))
    const plugin = definePlugin({
      name: 'p',
      apply: (ctx) => void ctx.effect(() => slowDisposer(trail, 'row')),
    })
    await mount(scope.ctx, { id: 'p', plugin, config: {}, timeoutMs }).settled()
    const child = openScope(root, 'child', scope)
    child.ctx.effect(() => slowDisposer(trail, 'child'))
    await scope.close()
    expect(trail).toEqual(['child<', 'child>', 'row<', 'row>', 'own<', 'own>'])
  })

  it('closes a provider after the consumer inside it', async () => {
    const { root, trail } = fixture()
    const scope = openScope(root, 'agent')
    const db = definePlugin({
      name: 'db',
      provides: ['testDb'],
      apply: (ctx) => own(ctx, 'testDb', { query: () => '' }, () => trail.push('closed')),
    })
    const user = definePlugin({
      name: 'user',
      inject: ['testDb'],
      apply: (ctx) => void ctx.effect(() => slowDisposer(trail, 'flush')),
    })
    const rows = [
      mount(scope.ctx, { id: 'db', plugin: db, config: {}, timeoutMs }),
      mount(scope.ctx, { id: 'user', plugin: user, config: {}, timeoutMs }),
    ]
    expect(await settle(...rows)).toEqual(['active', 'active'])
    await scope.close()
    expect(trail).toEqual(['flush<', 'flush>', 'closed'])
  })

  it('answers the same promise to every close', async () => {
    const { root } = fixture()
    const scope = openScope(root, 'agent')
    const first = scope.close()
    expect(scope.close()).toBe(first)
    await first
  })

  describe('of a plugin that unloads', () => {
    const whole = ['child<', 'child>', 'own<', 'own>']

    it('closes with it, contents first', async () => {
      const { row, trail } = await openWithChild()
      await row.dispose()
      expect(trail).toEqual(whole)
    })

    it('has a close that comes later wait for that', async () => {
      const { row, scope, trail } = await openWithChild()
      void row.dispose()
      await pause(1)
      await scope.close()
      expect(trail).toEqual(whole)
    })

    it('holds the plugin up until a close that began earlier ends', async () => {
      const { row, scope, trail } = await openWithChild()
      void scope.close()
      await pause(1)
      await row.dispose()
      expect(trail).toEqual(whole)
    })
  })

  it('leaves nothing behind of a child that its parent closed', async () => {
    const { root } = fixture()
    const before = footprint(root)
    const parent = openScope(root, 'parent')
    openScope(root, 'child', parent)
    await parent.close()
    expect(footprint(root)).toEqual(before)
  })

  it('goes on closing past a row that hangs', async () => {
    const { root, trail, errors } = fixture()
    const scope = openScope(root, 'agent')
    const hung = definePlugin({
      name: 'hung',
      apply: (ctx) => void ctx.effect(() => () => new Promise<void>(() => {})),
    })
    const child = openScope(root, 'child', scope)
    child.ctx.effect(() => slowDisposer(trail, 'child'))
    const row = mount(scope.ctx, { id: 'hung', plugin: hung, config: {}, timeoutMs: 20 })
    await row.settled()
    await scope.close()
    expect(trail).toEqual(['child<', 'child>'])
    expect(errors().join()).toContain('hung: did not stop within 20 ms')
  })
})
