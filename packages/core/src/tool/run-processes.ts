import path from 'node:path'
import type { FileSystem, Processes, RunningProcess } from '../environment/index.ts'
import type { Gate } from './gate.ts'
import { tolerate } from './tolerate.ts'
import type { RunProcesses } from './tool.ts'

export interface RunProcessesOptions {
  readonly fs: () => FileSystem
  readonly processes: () => Processes
  readonly gate: Gate
  readonly cwd: string
  readonly signal: AbortSignal
  /** Processes that have not ended. */
  readonly running: Set<RunningProcess>
}

/** Programs of one call, decided on what will really be run and where. */
export function createRunProcesses(options: RunProcessesOptions): RunProcesses {
  const { fs, processes, gate, signal, running } = options

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
    const child = await processes().start({ ...command, cwd, env }, signal)
    try {
      // The call may have ended while the program started.
      gate.check(effect)
    } catch (error) {
      await child.kill()
      throw error
    }
    running.add(child)
    void tolerate(child.exit.finally(() => running.delete(child)))
    return child
  }

  return {
    get shell() {
      return processes().shell
    },
    start: (command) => tolerate(start(command)),
  }
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((part, index) => part === b[index])
}
