import path from 'node:path'
import type { FileSystem, Processes, RunningProcess } from '../environment/index.ts'
import type { Effect } from '../policy/index.ts'
import type { Gate } from './gate.ts'
import { tolerate } from './tolerate.ts'
import type { Detached, RunProcesses } from './tool.ts'

export interface RunProcessesOptions {
  readonly fs: () => FileSystem
  readonly processes: () => Processes
  readonly gate: Gate
  readonly cwd: string
  readonly signal: AbortSignal
  /** Processes that have not ended. */
  readonly running: Set<RunningProcess>
  readonly detached: Detached
}

/** A process that this call started and still answers for. */
interface Held {
  readonly effect: Effect
  /** Lets it go on when the call is aborted. */
  readonly unlink: () => void
}

/** Programs of one call, decided on what will really be run and where. */
export function createRunProcesses(options: RunProcessesOptions): RunProcesses {
  const { fs, processes, gate, signal, running } = options
  const held = new Map<RunningProcess, Held>()

  const start: RunProcesses['start'] = async ({ shellText, ...command }) => {
    const { argv } = command
    if (shellText !== undefined && !isSame(argv, processes().shell.argv(shellText))) {
      gate.deny('what it would run is not what it showed')
    }
    await using directory = await fs().target(path.resolve(options.cwd, command.cwd ?? '.'))
    const cwd = directory.path
    const shown = shellText === undefined ? {} : { command: shellText }
    const effect = { kind: 'process', argv, cwd, ...shown } as const
    gate.check(effect)
    const env = command.env ?? processes().baseEnv()
    const own = linkedTo(signal)
    const child = await processes().start({ ...command, cwd, env }, own.signal)
    try {
      // The call may have ended while the program started.
      gate.check(effect)
    } catch (error) {
      await child.kill()
      throw error
    }
    running.add(child)
    held.set(child, { effect, unlink: own.unlink })
    void tolerate(child.exit.finally(() => running.delete(child)))
    return child
  }

  return {
    get shell() {
      return processes().shell
    },
    start: (command) => tolerate(start(command)),
    detach: (child) => {
      const { effect, unlink } = held.get(child) ?? gate.deny('this call has no such process')
      gate.check(effect)
      held.delete(child)
      running.delete(child)
      unlink()
      return options.detached
    },
  }
}

/** A signal that aborts with `outer` until it is unlinked. */
function linkedTo(outer: AbortSignal): { signal: AbortSignal; unlink: () => void } {
  const own = new AbortController()
  const follow = () => own.abort(outer.reason)
  if (outer.aborted) follow()
  else outer.addEventListener('abort', follow, { once: true })
  return { signal: own.signal, unlink: () => outer.removeEventListener('abort', follow) }
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((part, index) => part === b[index])
}
