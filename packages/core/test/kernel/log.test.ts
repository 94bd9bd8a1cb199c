import {
  createRoot,
  definePlugin,
  describeFailure,
  log,
  mount,
  type LogRecord,
} from '@cordage/core/kernel'
import { describe, expect, it } from 'vitest'
import { fixture } from './fixture.ts'

const timeoutMs = 1000

function lineOf(...args: [unknown, ...unknown[]]): string | undefined {
  const { root, logged } = fixture()
  root.logger.info(...args)
  return logged[0]?.text
}

describe('the log', () => {
  it('survives a sink that throws, and rows still settle', async () => {
    const root = createRoot({
      log: () => {
        throw new Error('disk full')
      },
    })
    const plugin = definePlugin({
      name: 'p',
      apply: () => {
        throw new Error('boom')
      },
    })
    const row = mount(root, { id: 'p', plugin, config: {}, timeoutMs })
    expect((await row.settled()).state).toBe('failed')
    log(root, 'error', 'still here')
    await row.dispose()
  })

  it('survives an exporter of somebody else that throws', () => {
    const { root } = fixture()
    const { exporter } = root.logger as unknown as { exporter(e: object): void }
    exporter.call(root.logger, {
      export: () => {
        throw new Error('bad exporter')
      },
    })
    expect(() => log(root, 'info', 'hello')).not.toThrow()
  })

  it('formats like printf and appends the rest', () => {
    expect(lineOf('%s has %d of %o, %f%%', 'a', 3.7, { b: [1] }, 0.5, 'rest', { c: 1 })).toBe(
      'a has 3 of { b: [ 1 ] }, 0.5% rest { c: 1 }',
    )
    expect(lineOf('no value for %s')).toBe('no value for %s')
  })

  it('prints circular, huge, hostile and binary values without throwing', () => {
    const circular: Record<string, unknown> = {}
    circular['self'] = circular
    const hostile = new Proxy(new Error('x'), {
      get: () => {
        throw new Error('trap')
      },
    })
    expect(lineOf('%o', circular)).toContain('[Circular *1]')
    expect(lineOf('%o %d', 10n, 10n)).toBe('10n 10')
    expect(lineOf('%d %d', Symbol('s'), Object.create(null))).toBe('NaN NaN')
    expect(lineOf('%s', hostile)).toBe('[unprintable]')
    expect(lineOf('%s', 'x'.repeat(50_000))).toHaveLength(10_240)
  })

  it('describes failures that are their own cause, or cannot be read', () => {
    const own = new Error('round')
    own.cause = own
    expect(describeFailure(own).split('; caused by ')).toEqual(Array(8).fill('Error: round'))
    const trap = new Error('x', { cause: 'y' })
    Object.defineProperty(trap, 'message', { get: () => expect.fail('trapped') })
    const outer = new TypeError('outer', { cause: trap })
    expect(describeFailure(outer)).toBe('TypeError: outer; caused by [unprintable]')
    expect(describeFailure(Object.create(null))).toBe('[Object: null prototype] {}')
    expect(describeFailure(undefined)).toBe('undefined')
  })

  it('prints a context by name', () => {
    const { root } = fixture()
    expect(lineOf('%o', root)).toBe('Context <root>')
  })

  it('escapes control characters', () => {
    expect(lineOf('%s', 'a\u001b[31mb\rc\nd')).toBe('a\\x1b[31mb\\x0dc\nd')
  })

  it('does not print properties attached to an error', () => {
    const error = Object.assign(new Error('refused'), { headers: { authorization: 'secret' } })
    expect(lineOf(error)).not.toContain('secret')
  })

  it('appends fields and takes a percent sign literally', () => {
    const { root, logged } = fixture()
    log(root, 'warn', '100%s', { id: 7, list: ['a'] })
    expect(logged.map(({ level, name, text }) => ({ level, name, text }))).toEqual([
      { level: 'warn', name: 'root', text: "100%s id=7 list=[ 'a' ]" },
    ])
  })

  it('delivers every level under the name of the row', async () => {
    const { root, logged } = fixture()
    const plugin = definePlugin({
      name: 'p',
      apply: (ctx) => {
        log(ctx, 'debug', 'one')
        ctx.logger.info('two')
      },
    })
    await mount(root, { id: 'tool-bash', plugin, config: {}, timeoutMs }).settled()
    const summary = logged.map(({ level, name, text }: LogRecord) => `${level} ${name} ${text}`)
    expect(summary).toEqual(['debug tool-bash one', 'info tool-bash two'])
  })
})
