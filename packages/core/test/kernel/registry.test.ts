import { createRegistry, definePlugin, mount, openScope } from '@cordage/core/kernel'
import { describe, expect, it } from 'vitest'
import { fixture, pause } from './fixture.ts'

const timeoutMs = 1000
const ids = (entries: { id: string }[]) => entries.map(({ id }) => id)

describe('a registry', () => {
  it('lists by order and id, not by arrival', () => {
    const { root } = fixture()
    const tools = createRegistry<string>('tool')
    tools.add(root, 'b', '')
    tools.add(root, 'z', '', { order: -1 })
    tools.add(root, 'a', '')
    tools.add(root, 'B', '')
    expect(ids(tools.list())).toEqual(['z', 'B', 'a', 'b'])
  })

  it('refuses a second entry of an id and names both rows', async () => {
    const { root } = fixture()
    const tools = createRegistry<string>('tool')
    const plugin = definePlugin({ name: 'p', apply: (ctx) => void tools.add(ctx, 'bash', 'x') })
    const one = mount(root, { id: 'one', plugin, config: {}, timeoutMs })
    await one.settled()
    const two = mount(root, { id: 'two', plugin, config: {}, timeoutMs })
    const state = await two.settled()
    expect(state.state === 'failed' && state.error.message).toBe(
      'two: tool "bash" of two is already registered by one',
    )
    expect(tools.get('bash')?.row).toBe('one')
  })

  it('forgets an entry when its plugin unloads or its remover is called', async () => {
    const { root } = fixture()
    const tools = createRegistry<string>('tool')
    const plugin = definePlugin({ name: 'p', apply: (ctx) => void tools.add(ctx, 'a', 'x') })
    const row = mount(root, { id: 'p', plugin, config: {}, timeoutMs })
    await row.settled()
    const remove = tools.add(root, 'b', 'y')
    expect(ids(tools.list())).toEqual(['a', 'b'])
    await row.dispose()
    expect(ids(tools.list())).toEqual(['b'])
    remove()
    remove()
    expect(tools.list()).toEqual([])
  })

  it('lets the nearest scope win an id and keeps scopes apart', async () => {
    const { root } = fixture()
    const tools = createRegistry<string>('tool')
    const parent = openScope(root, 'parent')
    const child = openScope(root, 'child', parent)
    const other = openScope(root, 'other')
    tools.add(root, 'bash', 'global')
    tools.add(root, 'read', 'global')
    tools.add(parent.ctx, 'bash', 'parent')
    tools.add(child.ctx, 'todo', 'child')
    const seen = (scope?: typeof parent) => {
      return tools.list(scope).map(({ id, value }) => `${id}:${value}`)
    }
    expect(seen()).toEqual(['bash:global', 'read:global'])
    expect(seen(parent)).toEqual(['bash:parent', 'read:global'])
    expect(seen(child)).toEqual(['bash:parent', 'read:global', 'todo:child'])
    expect(seen(other)).toEqual(['bash:global', 'read:global'])
    const own = (scope: typeof parent) => {
      return tools.listOwn(scope).map(({ id, value }) => `${id}:${value}`)
    }
    expect(own(parent)).toEqual(seen(parent))
    expect(own(child)).toEqual(['bash:global', 'read:global', 'todo:child'])
    expect(tools.get('bash', child)?.value).toBe('parent')
    expect(tools.get('todo', parent)).toBeUndefined()
    await parent.close()
    expect(seen(child)).toEqual(['bash:global', 'read:global'])
  })

  it('announces changes, also past a failing listener', () => {
    const { root, trail, errors } = fixture()
    const tools = createRegistry<string>('tool')
    tools.onChange(root, () => {
      throw new Error('deaf')
    })
    const stop = tools.onChange(root, ({ id }, change) => trail.push(`${change} ${id}`))
    const remove = tools.add(root, 'a', '')
    remove()
    stop()
    tools.add(root, 'b', '')
    expect(trail).toEqual(['added a', 'removed a'])
    expect(errors()).toHaveLength(3)
  })

  it('refuses registrations that would never be undone', async () => {
    const { root, trail } = fixture()
    const tools = createRegistry<string>('tool')
    const plugin = definePlugin({
      name: 'p',
      apply: (ctx) => {
        ctx.effect(() => async () => {
          await pause()
          try {
            tools.add(ctx, 'late', '')
          } catch (error) {
            trail.push(String(error))
          }
        })
      },
    })
    const row = mount(root, { id: 'p', plugin, config: {}, timeoutMs })
    await row.settled()
    await row.update({})
    expect(trail).toEqual([
      'AssertionError: tool late: p is not loaded, so nothing would undo this',
    ])
    expect(tools.list()).toEqual([])
  })
})
