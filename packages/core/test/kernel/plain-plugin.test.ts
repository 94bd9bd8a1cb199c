import { mount, type AnyPlugin, type Mounted } from '@cordage/core/kernel'
import { Service, type Context as Container } from 'cordis'
import { describe, expect, it } from 'vitest'
import { fixture, pause, type Fixture } from './fixture.ts'

const timeoutMs = 1000

function mountPlain({ root }: Fixture, plugin: AnyPlugin): Mounted {
  return mount(root, { id: 'plain', plugin, config: { word: 'w' }, timeoutMs })
}

class Counter extends Service {
  readonly trail: string[]
  constructor(ctx: Container, config: { trail: string[] }) {
    super(ctx, 'testCounter')
    this.trail = config.trail
  }
  async [Service.init]() {
    await pause()
    this.trail.push('init')
    return () => void this.trail.push('undone')
  }
}

// Each is a form that plain Cordis accepts; of the two `function` forms it drops the disposer.
const forms: Record<string, (trail: string[]) => AnyPlugin> = {
  arrow: (trail) => () => () => trail.push('undone'),
  function: (trail) =>
    function apply() {
      return () => trail.push('undone')
    },
  'async function': (trail) =>
    async function apply() {
      await pause()
      return () => trail.push('undone')
    },
  'object with a function': (trail) => ({
    name: 'object',
    apply: function apply() {
      return () => trail.push('undone')
    },
  }),
  generator: (trail) =>
    function* apply() {
      yield () => trail.push('undone')
    },
  'async generator': (trail) =>
    async function* apply() {
      await pause()
      yield () => trail.push('undone')
    },
}

describe('a plain Cordis plugin', () => {
  it.each(Object.keys(forms))('runs the disposer of the %s form', async (form) => {
    const f = fixture()
    const row = mountPlain(f, forms[form]!(f.trail))
    expect(await row.settled()).toEqual({ state: 'active' })
    expect(f.trail).toEqual([])
    await row.dispose()
    expect(f.trail).toEqual(['undone'])
  })

  it('is constructed when it is a class, and its init is awaited', async () => {
    const f = fixture()
    const row = mount(f.root, {
      id: 'counter',
      plugin: Counter,
      config: { trail: f.trail },
      timeoutMs,
    })
    expect(await row.settled()).toEqual({ state: 'active' })
    expect(f.trail).toEqual(['init'])
    await row.dispose()
    expect(f.trail).toEqual(['init', 'undone'])
  })

  it('fails when a plain async function rejects', async () => {
    const f = fixture()
    const row = mountPlain(f, async function apply() {
      await pause()
      throw new Error('no such file')
    })
    const state = await row.settled()
    expect(state.state === 'failed' && state.error.message).toBe('plain: no such file')
  })

  it.each([0, 'text', true, { some: 'object' }])('ignores a returned %j', async (value) => {
    const f = fixture()
    expect(await mountPlain(f, () => value).settled()).toEqual({ state: 'active' })
  })

  it('ignores a returned child fiber without waiting for it', async () => {
    const f = fixture()
    const child = { apply: () => new Promise(() => {}) }
    const row = mountPlain(f, (ctx: Container) => ctx.plugin(child))
    await pause()
    expect(row.state()).toEqual({ state: 'active' })
  })

  it('undoes the parts of a generator one by one, newest first', async () => {
    const f = fixture()
    const part = (name: string) => async () => {
      f.trail.push(`${name}<`)
      await pause()
      f.trail.push(`${name}>`)
    }
    const row = mountPlain(f, function* apply() {
      yield part('a')
      yield part('b')
    })
    await row.settled()
    await row.dispose()
    expect(f.trail).toEqual(['b<', 'b>', 'a<', 'a>'])
  })

  it('keeps two rows of one plugin apart', async () => {
    const f = fixture()
    const plugin = {
      apply: (ctx: Container, { word }: { word: string }) => {
        f.trail.push(`${ctx.fiber.name}:${word}`)
      },
    }
    const one = mount(f.root, { id: 'one', plugin, config: { word: 'a' }, timeoutMs })
    const two = mount(f.root, { id: 'two', plugin, config: { word: 'b' }, timeoutMs })
    await Promise.all([one.settled(), two.settled()])
    expect(f.trail).toEqual(['one:a', 'two:b'])
  })
})
