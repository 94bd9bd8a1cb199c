import { spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import {
  environmentError,
  type Command,
  type ProcessExit,
  type Processes,
  type RunningProcess,
} from '@cordage/core/environment'
import { assert, type Host } from '@cordage/core/kernel'
import { killAtExit } from './at-exit.ts'
import { selectEnv } from './base-env.ts'
import { errnoOf } from './failure.ts'
import { createOutput } from './output.ts'
import { findShell } from './shell.ts'
import { createTree, endTree, killTree, MARKER, waitForTree } from './tree.ts'

export interface ProcessOptions {
  readonly env: readonly string[]
  readonly killGraceMs: number
}

/** What a process left behind may still take after it. */
const LINGER_MS = 250

/** Processes of this machine; `closing` ends them all. */
export function createProcesses(
  host: Host,
  options: ProcessOptions,
  closing: AbortSignal,
): Processes & { settled(): Promise<void> } {
  const running = new Set<Promise<unknown>>()
  const outer = host.env[MARKER]
  return {
    shell: findShell(host.env['PATH']),
    confinement: 'none',
    baseEnv: () => selectEnv(host.env, options.env),
    start: async (command, signal) => {
      const either = AbortSignal.any([signal, closing])
      either.throwIfAborted()
      const marker = randomUUID()
      const env = { ...command.env, [MARKER]: outer ? `${outer}:${marker}` : marker }
      const child = await spawnChild({ ...command, env })
      const started = supervise(child, marker, command, either, options.killGraceMs)
      running.add(started.exit)
      void started.exit.finally(() => running.delete(started.exit))
      return started
    },
    settled: async () => void (await Promise.all(running)),
  }
}

async function spawnChild(command: Command): Promise<ChildProcess> {
  const [program, ...args] = command.argv
  try {
    const child = spawn(program, args, {
      cwd: command.cwd,
      env: command.env,
      // The leader of its own group and session, by which its descendants are found.
      detached: process.platform !== 'win32',
      stdio: [command.stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      windowsHide: true,
    })
    await once(child, 'spawn')
    child.on('error', () => {})
    // A child need not read what it is given.
    child.stdin?.on('error', () => {})
    child.stdin?.end(command.stdin)
    return child
  } catch (error) {
    const reason = await describeStart(command.cwd, error)
    throw environmentError('PROCESS_START_FAILED', { program, reason }, { cause: error })
  }
}

async function describeStart(cwd: string, error: unknown): Promise<string> {
  const errno = errnoOf(error)
  const directory = await stat(cwd).catch(() => undefined)
  if (!directory?.isDirectory()) return `${cwd} is not a directory that can be entered`
  if (errno === 'ENOENT') return 'there is no such program'
  if (errno === 'EACCES') return 'permission denied'
  if (errno === 'E2BIG') return 'its arguments and environment are too long'
  return errno ?? 'it cannot be run'
}

function supervise(
  child: ChildProcess,
  marker: string,
  command: Command,
  signal: AbortSignal,
  graceMs: number,
): RunningProcess {
  const { pid, stdout, stderr } = child
  assert(pid !== undefined && stdout && stderr, 'a process that has started has a pid and pipes')
  const tree = createTree(pid, marker)
  const release = killAtExit(() => killTree(tree))
  const startedAt = performance.now()
  const output = createOutput(stdout, stderr)
  const cause = { timedOut: false, aborted: false }
  let ending: Promise<void> | undefined
  const end = () => (ending ??= endTree(tree, graceMs))

  const onAbort = () => {
    cause.aborted = true
    void end()
  }
  const timer = startTimer(command.timeoutMs, () => {
    cause.timedOut = true
    void end()
  })
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()

  const exit = new Promise<Omit<ProcessExit, 'timedOut' | 'aborted'>>((resolve) => {
    child.once('exit', (code, signal) => {
      const durationMs = performance.now() - startedAt
      resolve({ ...(signal ? { signal } : { code: code ?? 0 }), durationMs })
    })
  }).then(async (ended): Promise<ProcessExit> => {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
    const result = { ...ended, ...cause }
    // From here on the number may be another process's, so a late kill must do nothing.
    if (await waitForTree(tree, LINGER_MS)) ending ??= Promise.resolve()
    await end()
    release()
    await output.finish(LINGER_MS)
    return result
  })
  return {
    pid,
    output: output.chunks,
    exit,
    kill: async () => {
      await end()
      await exit
    },
  }
}

function startTimer(ms: number | undefined, expire: () => void): NodeJS.Timeout | undefined {
  return ms === undefined ? undefined : setTimeout(expire, ms)
}
