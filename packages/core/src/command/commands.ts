import { describe, didYouMean, isHarnessError, type HarnessError } from '../error/index.ts'
import { assert, createRegistry, describeFailure, log, type Entry } from '../kernel/index.ts'
import type { Context } from '../kernel/index.ts'
import type { Command, CommandAgent, Commands } from './command.ts'
import { commandError } from './errors.ts'

const NAME = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/
/** A name and nothing that makes a path of it: `/usr/bin is full` is meant for the model. */
const COMMAND = /^\/([a-z][a-z0-9-]*)(?:\s+([\s\S]*))?$/

/** The registry behind `ctx.commands`. */
export function createCommands(ctx: Context): Commands {
  const registry = createRegistry<Command>('command')
  const sources = createRegistry<(agent: CommandAgent) => unknown>('source of commands')
  let added = 0

  const refresh = async (agent: CommandAgent) => {
    for (const { value: look, row } of sources.list(agent.scope)) {
      try {
        await look(agent)
      } catch (error) {
        log(ctx, 'error', `commands of ${row} are as they were`, { error: describeFailure(error) })
      }
    }
  }
  return {
    register: (ctx, command) => {
      assert(NAME.test(command.name), `"${command.name}" is not lower-case words joined by "-"`)
      registry.add(ctx, command.name, command)
    },
    source: (at, look) => void sources.add(at, String(added++), look),
    refresh,
    list: (scope) => registry.list(scope).map((entry) => entry.value),
    run: async (text, agent, signal) => {
      const [, name, args = ''] = COMMAND.exec(text.trim()) ?? []
      if (name === undefined) return undefined
      await refresh(agent)
      const entry = registry.get(name, agent.scope)
      if (!entry) throw unknown(name, registry.list(agent.scope))
      try {
        return { name, ...(await entry.value.run(args.trim(), agent, signal)) }
      } catch (error) {
        if (isHarnessError(error) || signal.aborted) throw error
        const { message: reason } = describe(error)
        throw commandError('COMMAND_FAILED', { name, row: entry.row, reason }, { cause: error })
      }
    },
  }
}

function unknown(name: string, entries: readonly Entry<Command>[]): HarnessError {
  const known = entries.map((entry) => entry.id)
  const all = known.length === 0 ? 'None is loaded.' : `Known: ${known.join(', ')}.`
  return commandError('COMMAND_UNKNOWN', { name, hint: didYouMean(name, known) ?? all })
}
