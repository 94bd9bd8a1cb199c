import { definePlugin, mount, own, RowError, rowOf } from '@cordage/core/kernel'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defer, fixture, pause, settle } from './fixture.ts'

const timeoutMs = 1000
const word = z.strictObject({ word: z.string().default('none') })

describe('mount', () => {
  it('reports an invalid config as failed, not as waiting', async () => {
    const { root } = fixture()
    const plugin = definePlugin({ name: 'p', inject: ['testDb'], config: word, apply: () => {} })
    const row = mount(root, { id: 'p', plugin, config: { word: 1 }, timeoutMs })
    const state = await row.settled()
    expect(state.state === 'failed' && state.error.message).toMatch(/^p: config\.word: .*string/)
  })

  it('starts a row whose config was invalid once it gets a valid one', async () => {
    const { root, trail } = fixture()
    const plugin = definePlugin({
      name: 'p',
      config: word,
      apply: (_, config) => void trail.push(config.word),
    })
    const row = mount(root, { id: 'p', plugin, config: { word: 1 }, timeoutMs })
    await row.update({ word: 'now' })
    expect(row.state()).toEqual({ state: 'active' })
    expect(trail).toEqual(['now'])
  })

  it('names the services that a row waits for', async () => {
    const { root } = fixture()
    own(root, 'testCache', { size: 0 })
    const plugin = definePlugin({ name: 'p', inject: ['testDb', 'testCache'], apply: () => {} })
    const row = mount(root, { id: 'p', plugin, config: {}, timeoutMs })
    expect(await row.settled()).toEqual({ state: 'waiting', needs: ['testDb'] })
    own(root, 'testDb', { query: () => '' })
    expect(await row.settled()).toEqual({ state: 'active' })
  })

  it('accepts asynchronous config checks, and rejects what they refuse', async () => {
    const { root, trail } = fixture()
    const config = word.refine(async (value) => value.word !== 'bad', 'is bad')
    const plugin = definePlugin({ name: 'p', config, apply: (_, c) => void trail.push(c.word) })
    const good = mount(root, { id: 'good', plugin, config: {}, timeoutMs })
    const bad = mount(root, { id: 'bad', plugin, config: { word: 'bad' }, timeoutMs })
    expect(await settle(good, bad)).toEqual(['active', 'failed'])
    expect(trail).toEqual(['none'])
  })

  it('reports an asynchronous config check that throws, also while a service is missing', async () => {
    const { root } = fixture()
    // Not zod: it abandons the promise of a first, synchronous attempt.
    const Config = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: () => Promise.reject(new Error('check broke')),
      },
    } as const
    const plugin = { inject: ['testDb'], Config, apply: () => {} }
    const row = mount(root, { id: 'p', plugin, config: {}, timeoutMs })
    await pause()
    own(root, 'testDb', { query: () => '' })
    const state = await row.settled()
    expect(state.state === 'failed' && state.error.message).toMatch(/check broke/)
  })

  it('reports a config transform that throws', async () => {
    const { root } = fixture()
    const config = z.strictObject({}).transform(() => {
      throw new Error('cannot parse')
    })
    const plugin = definePlugin({ name: 'p', config, apply: () => {} })
    const state = await mount(root, { id: 'p', plugin, config: {}, timeoutMs }).settled()
    expect(state.state === 'failed' && state.error.message).toMatch(/cannot parse/)
  })

  it('bounds a hung apply and names the row', async () => {
    const { root } = fixture()
    const plugin = definePlugin({ name: 'p', apply: () => new Promise(() => {}) })
    const row = mount(root, { id: 'hung', plugin, config: {}, timeoutMs: 30 })
    const state = await row.settled()
    expect(state.state === 'failed' && state.error.message).toBe(
      'hung: did not become active within 30 ms',
    )
    await row.dispose()
    expect(row.state()).toEqual({ state: 'disposed' })
  })

  it('undoes what an apply registers after its time limit', async () => {
    const { root, trail } = fixture()
    const late = defer()
    const plugin = definePlugin({
      name: 'p',
      apply: async (ctx) => {
        await late.promise
        ctx.effect(() => () => void trail.push('undone'))
      },
    })
    const row = mount(root, { id: 'late', plugin, config: {}, timeoutMs: 20 })
    await row.settled()
    late.resolve()
    await pause()
    expect(trail).toEqual(['undone'])
  })

  it('bounds a hung disposer, names the row, and answers the same promise again', async () => {
    const { root } = fixture()
    const plugin = definePlugin({
      name: 'p',
      apply: (ctx) => void ctx.effect(() => () => new Promise<void>(() => {})),
    })
    const row = mount(root, { id: 'stuck', plugin, config: {}, timeoutMs: 30 })
    await row.settled()
    const first = row.dispose()
    expect(row.dispose()).toBe(first)
    await expect(first).rejects.toThrow('stuck: did not stop within 30 ms')
  })

  it('has the second dispose wait for the first', async () => {
    const { root, trail } = fixture()
    const plugin = definePlugin({
      name: 'p',
      apply: (ctx) => {
        ctx.effect(() => async () => {
          await pause()
          trail.push('undone')
        })
      },
    })
    const row = mount(root, { id: 'p', plugin, config: {}, timeoutMs })
    await row.settled()
    void row.dispose()
    await row.dispose()
    expect(trail).toEqual(['undone'])
  })

  it('waits for a teardown that the parent began', async () => {
    const { root, trail } = fixture()
    const plugin = definePlugin({
      name: 'p',
      apply: (ctx) => {
        ctx.effect(() => async () => {
          await pause()
          trail.push('undone')
        })
      },
    })
    const row = mount(root, { id: 'p', plugin, config: {}, timeoutMs })
    await row.settled()
    void root.fiber.dispose()
    await row.dispose()
    expect(trail).toEqual(['undone'])
  })

  it('logs a throwing disposer and undoes the rest', async () => {
    const { root, trail, errors } = fixture()
    const plugin = definePlugin({
      name: 'p',
      apply: (ctx) => {
        ctx.effect(() => () => void trail.push('first'))
        ctx.effect(() => () => {
          throw new Error('cannot undo')
        })
      },
    })
    const row = mount(root, { id: 'p', plugin, config: {}, timeoutMs })
    await row.settled()
    await row.dispose()
    expect(trail).toEqual(['first'])
    expect(errors().join()).toContain('cannot undo')
  })

  it('does not run apply when disposed in the tick of the mount', async () => {
    const { root, trail, errors } = fixture()
    const plugin = definePlugin({ name: 'p', apply: () => void trail.push('ran') })
    await mount(root, { id: 'p', plugin, config: {}, timeoutMs }).dispose()
    await pause()
    expect(trail).toEqual([])
    expect(errors()).toEqual([])
  })

  it('tells every context inside a row whose it is', async () => {
    const { root, trail } = fixture()
    const plugin = definePlugin({
      name: 'p',
      apply: (ctx) => {
        trail.push(rowOf(ctx))
        ctx.inject([], (inner) => trail.push(rowOf(inner)))
      },
    })
    await mount(root, { id: 'row-id', plugin, config: {}, timeoutMs }).settled()
    await pause()
    expect(trail).toEqual(['row-id', 'row-id'])
    expect(rowOf(root)).toBe('core')
  })
})

describe('updating a row', () => {
  it('is not lost while the row is loading', async () => {
    const { root, trail } = fixture()
    const plugin = definePlugin({
      name: 'p',
      config: word,
      apply: async (_, config) => {
        await pause()
        trail.push(config.word)
      },
    })
    const row = mount(root, { id: 'p', plugin, config: { word: 'one' }, timeoutMs })
    await row.update({ word: 'two' })
    expect(trail).toEqual(['one', 'two'])
    expect(row.state()).toEqual({ state: 'active' })
  })

  it('keeps overlapping updates in order', async () => {
    const { root, trail } = fixture()
    const plugin = definePlugin({
      name: 'p',
      config: word,
      apply: async (_, config) => {
        await pause()
        trail.push(config.word)
      },
    })
    const row = mount(root, { id: 'p', plugin, config: { word: '1' }, timeoutMs })
    await Promise.all([row.update({ word: '2' }), row.update({ word: '3' })])
    expect(trail).toEqual(['1', '2', '3'])
  })

  it('does not touch the running instance when the config is invalid', async () => {
    const { root, trail } = fixture()
    const plugin = definePlugin({
      name: 'p',
      config: word,
      apply: (ctx) => void ctx.effect(() => () => void trail.push('stopped')),
    })
    const row = mount(root, { id: 'p', plugin, config: {}, timeoutMs })
    await row.settled()
    await expect(row.update({ word: 5 })).rejects.toThrow('p: config.word')
    expect(row.state()).toEqual({ state: 'active' })
    expect(trail).toEqual([])
  })

  it('restores the previous config when the new one does not start', async () => {
    const { root, trail } = fixture()
    const plugin = definePlugin({
      name: 'p',
      config: word,
      apply: (_, config) => {
        if (config.word === 'bad') throw new Error('cannot open bad')
        trail.push(config.word)
      },
    })
    const row = mount(root, { id: 'p', plugin, config: { word: 'good' }, timeoutMs })
    await row.settled()
    const failure = await row.update({ word: 'bad' }).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(RowError)
    expect((failure as RowError).row).toBe('p')
    expect(String(failure)).toContain('p: cannot open bad (the previous config was restored)')
    expect(row.state()).toEqual({ state: 'active' })
    expect(trail).toEqual(['good', 'good'])
  })

  it('revives a row that had failed', async () => {
    const { root } = fixture()
    const plugin = definePlugin({
      name: 'p',
      config: word,
      apply: (_, config) => {
        if (config.word === 'bad') throw new Error('bad word')
      },
    })
    const row = mount(root, { id: 'p', plugin, config: { word: 'bad' }, timeoutMs })
    expect((await row.settled()).state).toBe('failed')
    await row.update({ word: 'good' })
    expect(row.state()).toEqual({ state: 'active' })
  })

  it('leaves a row that had failed before failed, with the new reason', async () => {
    const { root } = fixture()
    const plugin = definePlugin({
      name: 'p',
      config: word,
      apply: (_, config) => Promise.reject(new Error(`no ${config.word}`)),
    })
    const row = mount(root, { id: 'p', plugin, config: { word: 'one' }, timeoutMs })
    await row.settled()
    await expect(row.update({ word: 'two' })).rejects.toThrow(/^p: no two$/)
    expect(row.state()).toMatchObject({ state: 'failed', error: { message: 'p: no two' } })
  })

  it('keeps what a revived row registers when the hung activation ends at last', async () => {
    const { root, trail } = fixture()
    const late = defer()
    let activations = 0
    const plugin = definePlugin({
      name: 'p',
      apply: async (ctx) => {
        activations += 1
        if (activations === 1) await late.promise
        else ctx.effect(() => () => void trail.push('undone'))
      },
    })
    const row = mount(root, { id: 'p', plugin, config: {}, timeoutMs: 20 })
    await row.settled()
    await row.update({})
    late.resolve()
    await pause()
    expect(trail).toEqual([])
    await row.dispose()
    expect(trail).toEqual(['undone'])
  })

  it('gives a waiting row the config it starts with later', async () => {
    const { root, trail } = fixture()
    const plugin = definePlugin({
      name: 'p',
      inject: ['testDb'],
      config: word,
      apply: (_, config) => void trail.push(config.word),
    })
    const row = mount(root, { id: 'p', plugin, config: { word: 'old' }, timeoutMs })
    await row.update({ word: 'new' })
    own(root, 'testDb', { query: () => '' })
    await row.settled()
    expect(trail).toEqual(['new'])
  })

  it('names the row when the old instance does not stop', async () => {
    const { root } = fixture()
    const plugin = definePlugin({
      name: 'p',
      apply: (ctx) => void ctx.effect(() => () => new Promise<void>(() => {})),
    })
    const row = mount(root, { id: 'stuck', plugin, config: {}, timeoutMs: 20 })
    await row.settled()
    await expect(row.update({})).rejects.toThrow(/^stuck: did not restart within 40 ms$/)
  })
})
