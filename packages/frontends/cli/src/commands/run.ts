import { realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Invocation, Terminal } from '@cordage/core/command'
import type { Limits } from '@cordage/core/ledger'
import { composeRequestOf, mountProfile, type Harness } from '../boot/boot.ts'
import { followWhileRunning, rejectionText } from '../boot/follow-while-running.ts'
import { composeProfile } from '../boot/layers.ts'
import { noteSessions } from '../boot/underway.ts'
import { credentialReader } from '../credential/credential-file.ts'
import { ownTerminal } from '../print/terminal.ts'
import { harmless } from '../print/table.ts'
import { exitOfSignal, listenForSignals } from '../signals.ts'
import { assertModelAvailable } from './credential-check.ts'
import { cliError } from './errors.ts'
import { bootOptionsOf, type RunOptions } from './options.ts'
import { completeId } from './session-id.ts'
import { readTask } from './task.ts'
import { logToStderr } from './with-harness.ts'

const CANCELLED = 130

/** Boots the profile and lets its frontend do the task; gives the exit code. */
export async function run(
  wanted: Invocation['session'],
  words: readonly string[],
  options: RunOptions,
): Promise<number> {
  const terminal = ownTerminal()
  const cwd = directory(options.cwd)
  const needed = wanted.kind === 'new'
  const given = await readTask(words, process.stdin, { needed, warn: terminal.err })
  if (needed && given.task === undefined) throw noTask()
  const request = composeRequestOf(bootOptionsOf(options))
  const composed = composeProfile(request)
  const { profile, composition } = composed
  // A session that goes on has a model of its own.
  if (options.model === undefined && needed && composition.problems.length === 0) {
    const { env, home } = request
    assertModelAvailable(composition, { env, credentials: credentialReader(home) })
  }
  const signals = listenForSignals(terminal.err)
  const harness = await mountProfile({
    ...composed,
    request,
    options: {
      ...(options.debug ? { log: logToStderr } : {}),
      onRejected: (rejection) => terminal.err(rejectionText(rejection)),
    },
  })
  followWhileRunning(harness)
  noteSessions(
    () =>
      harness.ctx
        .get('agents')
        ?.list()
        .map(({ session }) => session.id) ?? [],
  )
  try {
    if (!options.quiet) tellRefused(harness, terminal)
    if (signals.signal.aborted) return exitOfSignal(signals.signal)
    const frontend = harness.ctx.get('frontend')
    if (!frontend) throw cliError('PROFILE_NO_FRONTEND', { profile: profile.name })
    const session =
      wanted.kind === 'resume'
        ? { ...wanted, id: await completeId(harness.ctx, wanted.id) }
        : wanted
    const exit = await frontend.run({
      ...given,
      session,
      cwd,
      ...pick(options, 'model', 'effort', 'permission', 'interrupted'),
      output: options.output,
      limits: limitsOf(options),
      quiet: options.quiet,
      takeOver: options.takeOver,
      terminal,
      signal: signals.signal,
    })
    // A frontend knows that it was cancelled, but not by which signal.
    return exit === CANCELLED && signals.signal.aborted ? exitOfSignal(signals.signal) : exit
  } finally {
    const { hung } = await harness.close()
    if (hung.length > 0) terminal.err(`cordage: did not stop in time: ${hung.join(', ')}\n`)
    signals.dispose()
  }
}

/** A row that is not there is named, whatever the run is about. */
function tellRefused(harness: Harness, terminal: Terminal): void {
  for (const { id, state, reason = '' } of harness.report()) {
    if (state === 'active' || state === 'disabled') continue
    terminal.err(harmless(`notice: the row "${id}" is ${state}: ${reason}\n`))
  }
}

function noTask(): Error {
  const reason = 'There is nothing to do. Give a task: cordage "fix the failing test"'
  return cliError('USAGE', { reason })
}

function directory(given: string | undefined): string {
  const path = resolve(given ?? '.')
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return realpathSync(path)
  throw cliError('USAGE', { reason: `--cwd: there is no directory ${path}.` })
}

function limitsOf({ maxSteps, maxTokens, maxCost, timeout }: RunOptions): Limits {
  return {
    ...(maxSteps === undefined ? {} : { maxSteps }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(maxCost === undefined ? {} : { maxCostUsd: maxCost }),
    ...(timeout === undefined ? {} : { deadline: Date.now() + timeout }),
  }
}

/** The members of `from` that are there, so that an absent one stays absent. */
function pick<T extends object, K extends keyof T>(from: T, ...keys: K[]): Pick<T, K> {
  const present = keys.filter((key) => from[key] !== undefined).map((key) => [key, from[key]])
  return Object.fromEntries(present) as Pick<T, K>
}
