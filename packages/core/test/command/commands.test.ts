import type { Command, CommandAgent } from '@cordage/core/command'
import { HarnessError } from '@cordage/core/error'
import { definePlugin, openScope } from '@cordage/core/kernel'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import commands from '../../src/command/index.ts'
import { bench, type Bench } from '../loop/boot.ts'

let made: Bench
beforeEach(async () => {
  made = await bench([], { rows: [{ plugin: commands }, { plugin: echoes }] })
})
afterEach(() => made.close())

function echo(name: string): Command {
  return { name, description: 'says it', run: (args) => ({ text: `${name}: ${args}` }) }
}

const echoes = definePlugin({
  name: 'echoes',
  inject: ['commands'],
  apply(ctx) {
    ctx.commands.register(ctx, echo('say-it'))
    ctx.commands.register(ctx, { ...echo('do-it'), run: (task) => ({ task }) })
    ctx.commands.register(ctx, {
      ...echo('fail'),
      run: () => {
        throw new TypeError('the secret of the plugin')
      },
    })
  },
})

const { signal } = new AbortController()
const run = (text: string, agent: CommandAgent = made.agent) =>
  made.root.commands.run(text, agent, signal)

async function failure(text: string): Promise<HarnessError> {
  const error: unknown = await run(text).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(HarnessError)
  return error as HarnessError
}

describe('ctx.commands', () => {
  it('runs a command with the trimmed text after its name, over several lines', async () => {
    const said = await run('  /say-it  one\n two ')
    expect(said).toEqual({ name: 'say-it', text: 'say-it: one\n two' })
    expect(await run('/say-it')).toEqual({ name: 'say-it', text: 'say-it: ' })
    expect(await run('/do-it now')).toEqual({ name: 'do-it', task: 'now' })
  })

  it.each(['say-it', 'look at /say-it', '/usr/bin is full', '//say-it', '/Say-it', '/'])(
    'leaves %j to the model',
    async (text) => {
      expect(await run(text)).toBeUndefined()
    },
  )

  it('refuses an unknown name with the nearest one, or with all', async () => {
    const near = await failure('/say-ti hello')
    expect(near).toMatchObject({ code: 'COMMAND_UNKNOWN' })
    expect(near.message).toContain('Did you mean say-it?')
    expect((await failure('/elsewhere')).message).toContain('Known: do-it, fail, queue, say-it.')
  })

  it('names the command and its row when it throws, and keeps what was thrown to itself', async () => {
    const { code, message, cause } = await failure('/fail')
    expect({ code, cause }).toMatchObject({ code: 'COMMAND_FAILED', cause: { name: 'TypeError' } })
    expect(message).toContain('The command /fail of echoes failed')
    expect(message).not.toContain('secret')
  })

  it('gives a command of an agent to that agent alone, until its scope closes', async () => {
    const { commands: registered } = made.root
    const scope = openScope(made.root, 'inner', made.agent.scope)
    registered.register(scope.ctx, { ...echo('say-it'), run: () => ({ text: 'inner' }) })
    expect(await run('/say-it x', { ...made.agent, scope })).toMatchObject({ text: 'inner' })
    expect(await run('/say-it x')).toMatchObject({ text: 'say-it: x' })
    await scope.close()
    expect(registered.list(scope)).toEqual(registered.list())
  })

  it('refuses a name that could not be typed', () => {
    const { commands: registered } = made.root
    expect(() => registered.register(made.root, echo('Say it'))).toThrow(/lower-case words/)
  })
})
