import {
  defineHook,
  definePlugin,
  mount,
  openScope,
  RowError,
  type Context,
  type Mounted,
} from '@cordage/core/kernel'
import { describe, expect, it } from 'vitest'
import { fixture, settle } from './fixture.ts'

const timeoutMs = 1000
type TextHook = ReturnType<typeof newHook>
const newHook = () => defineHook<string, string>('test/text')

function tagging(root: Context, hook: TextHook, id: string, order = 0): Mounted {
  const plugin = definePlugin({
    name: id,
    apply: (ctx) => {
      hook.use(ctx, async (input, next) => `${id}(${await next(`${input}${id}`)})`, { order })
    },
  })
  return mount(root, { id, plugin, config: {}, timeoutMs })
}

const echo = (input: string) => Promise.resolve(input)

describe('a hook', () => {
  it('runs the terminal alone when nobody uses it', async () => {
    const { root } = fixture()
    expect(await newHook().run(root, 'x', echo)).toBe('x')
  })

  it('orders by number, then by id, whatever the order of mounting', async () => {
    const results = new Set<string>()
    for (const ids of [
      ['a', 'b', 'c'],
      ['c', 'b', 'a'],
      ['b', 'c', 'a'],
    ]) {
      const { root } = fixture()
      const hook = newHook()
      await settle(...ids.map((id) => tagging(root, hook, id, id === 'a' ? 1 : 0)))
      results.add(await hook.run(root, '', echo))
    }
    expect([...results]).toEqual(['b(c(a(bca)))'])
  })

  it('orders by a given id instead of the row', async () => {
    const { root, trail } = fixture()
    const hook = newHook()
    const order = (row: string, id: string) => {
      const plugin = definePlugin({
        name: row,
        apply: (ctx) => {
          hook.use(ctx, (_, next) => (trail.push(id), next()), { id })
        },
      })
      return mount(root, { id: row, plugin, config: {}, timeoutMs })
    }
    await settle(order('a', 'second'), order('b', 'first'))
    await hook.run(root, 'x', echo)
    expect(trail).toEqual(['first', 'second'])
  })

  it('keeps the order when a row reloads', async () => {
    const { root } = fixture()
    const hook = newHook()
    const rows = ['a', 'b', 'c'].map((id) => tagging(root, hook, id))
    await settle(...rows)
    await rows[0]?.update({})
    expect(await hook.run(root, '', echo)).toBe('a(b(c(abc)))')
  })

  it('lets a handler answer without calling next', async () => {
    const { root } = fixture()
    const hook = newHook()
    hook.use(root, () => 'vetoed', { order: -1 })
    expect(await hook.run(root, 'x', () => Promise.reject(new Error('reached')))).toBe('vetoed')
  })

  it('rejects a second next() and names the row', async () => {
    const { root } = fixture()
    const hook = newHook()
    const plugin = definePlugin({
      name: 'twice',
      apply: (ctx) => {
        hook.use(ctx, async (_, next) => {
          await next()
          return next()
        })
      },
    })
    await mount(root, { id: 'twice', plugin, config: {}, timeoutMs }).settled()
    await expect(hook.run(root, 'x', echo)).rejects.toThrow(
      'twice called next() twice in test/text',
    )
  })

  it('blames the row whose handler threw, not those around it', async () => {
    const { root } = fixture()
    const hook = newHook()
    await settle(tagging(root, hook, 'outer', -1))
    const plugin = definePlugin({
      name: 'bad',
      apply: (ctx) => {
        hook.use(ctx, () => {
          throw new TypeError('oops')
        })
      },
    })
    await mount(root, { id: 'bad', plugin, config: {}, timeoutMs }).settled()
    const failure: unknown = await hook.run(root, 'x', echo).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(RowError)
    expect(failure).toMatchObject({
      row: 'bad',
      message: 'bad: oops',
      cause: { name: 'TypeError' },
    })
  })

  it('passes failures of the terminal on as they are', async () => {
    const { root } = fixture()
    const hook = newHook()
    await settle(tagging(root, hook, 'outer'))
    const failure = new Error('terminal')
    await expect(hook.run(root, 'x', () => Promise.reject(failure))).rejects.toBe(failure)
  })

  it('keeps the identity of coded errors and aborts, and adds the row', async () => {
    const { root } = fixture()
    for (const failure of [
      Object.assign(new Error('full'), { code: 'BUDGET' }),
      new DOMException('stop', 'AbortError'),
    ]) {
      const hook = newHook()
      hook.use(root, () => Promise.reject(failure))
      const caught: unknown = await hook.run(root, 'x', echo).catch((error: unknown) => error)
      expect(caught).toBe(failure)
      expect((caught as { row?: string }).row).toBe('core')
    }
  })

  it('does not call a handler that unloaded during the run', async () => {
    const { root } = fixture()
    const hook = newHook()
    const removed = tagging(root, hook, 'removed', 1)
    await settle(removed)
    hook.use(root, async (_, next) => {
      await removed.dispose()
      return next()
    })
    expect(await hook.run(root, 'x', echo)).toBe('x')
  })

  it('does not call a handler that was added during the run', async () => {
    const { root } = fixture()
    const hook = newHook()
    hook.use(root, (_, next) => {
      hook.use(root, () => 'late', { order: 1 })
      return next()
    })
    expect(await hook.run(root, 'x', echo)).toBe('x')
    expect(await hook.run(root, 'x', echo)).toBe('late')
  })

  it('applies in its scope and below, and nowhere else', async () => {
    const { root } = fixture()
    const hook = newHook()
    const parent = openScope(root, 'parent')
    const child = openScope(root, 'child', parent)
    const other = openScope(root, 'other')
    hook.use(parent.ctx, async (input, next) => `p(${await next(input)})`)
    expect(await hook.run(root, 'x', echo)).toBe('x')
    expect(await hook.run(root, 'x', echo, other)).toBe('x')
    expect(await hook.run(root, 'x', echo, parent)).toBe('p(x)')
    expect(await hook.run(child.ctx, 'x', echo)).toBe('p(x)')
    await parent.close()
    expect(await hook.run(root, 'x', echo, child)).toBe('x')
  })

  it('keeps two containers apart', async () => {
    const hook = newHook()
    const one = fixture().root
    const two = fixture().root
    hook.use(one, () => 'one')
    expect(await hook.run(two, 'x', echo)).toBe('x')
  })
})
