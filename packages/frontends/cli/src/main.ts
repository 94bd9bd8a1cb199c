import { CommanderError } from 'commander'
import { homeOf, logFileOf, version } from './boot/installation.ts'
import { optionsBehind } from './commands/options-behind.ts'
import { useProxy } from './boot/proxy.ts'
import { createProgram } from './program.ts'
import {
  flushed,
  keepStdoutForAnswers,
  stdoutFailure,
  tolerateClosedPipes,
} from './print/terminal.ts'
import { watchForEnd } from './print/unexpected-end.ts'

/** Runs the command line and ends the process with the exit code of DESIGN section 7. */
export async function main(args: readonly string[]): Promise<void> {
  tolerateClosedPipes()
  keepStdoutForAnswers()
  watchForEnd(() => decided)
  const debug = args.includes('--debug')
  process.on('uncaughtException', (error) => void failOrGiveUp(error, debug))
  // A promise that nobody waited for has broken nothing that goes on.
  process.on('unhandledRejection', (error) => void tellRejection(error, debug))
  try {
    if (args[0] === '__complete') {
      const { complete } = await import('./commands/complete.ts')
      process.stdout.write(await complete(args.slice(1)))
      return await end(0)
    }
    let exit = 0
    const program = createProgram(version, (code) => (exit = code))
    program.hook('preAction', async (_, command) => {
      if (command.name() === 'completion') return
      const { makeHome } = await import('./boot/make-directory.ts')
      makeHome(homeOf(process.env))
      const proxy = useProxy(process.env)
      if (proxy?.used === false) process.stderr.write(proxyNotice(proxy.variable))
    })
    if (args.length === 0 && process.stdin.isTTY) {
      const { welcome } = await import('./commands/welcome.ts')
      process.stdout.write(process.stdout.isTTY ? await welcome() : program.helpInformation())
      return await end(0)
    }
    await program.parseAsync(optionsBehind(args, program), { from: 'user' })
    await end(exit)
  } catch (error) {
    if (error instanceof CommanderError) await end(error.exitCode === 0 ? 0 : 2)
    else await fail(error, { debug })
  }
}

function proxyNotice(variable: string): string {
  const { node } = process.versions
  return `notice: ${variable} is set, but Node ${node} sends requests past it; take Node 24.\n`
}

interface FailOptions {
  readonly debug: boolean
  readonly late?: boolean
  readonly ends?: boolean
}

async function tell(error: unknown, options: FailOptions): Promise<void> {
  const { failureText, logFailure } = await import('./print/failure.ts')
  const logFile = logFileOf(homeOf(process.env))
  logFailure(error, logFile, process.env)
  process.stderr.write(failureText(error, { ...options, logFile }))
}

async function fail(error: unknown, options: FailOptions): Promise<void> {
  await tell(error, options)
  const { toExitCode } = await import('@cordage/core/error')
  await end(toExitCode(error))
}

async function tellRejection(error: unknown, debug: boolean): Promise<void> {
  try {
    await tell(error, { debug, late: true, ends: false })
  } catch {
    // It could not be told; what runs goes on all the same.
  }
}

/** A failure of the report itself would come back as the next uncaught one, for ever. */
async function failOrGiveUp(error: unknown, debug: boolean): Promise<void> {
  try {
    await fail(error, { debug, late: true })
  } catch (again) {
    process.stderr.write(`cordage: ${again instanceof Error ? again.stack : String(again)}\n`)
    decided = true
    process.exit(1)
  }
}

let decided = false

async function end(exit: number): Promise<void> {
  await flushed()
  const failure = stdoutFailure()
  if (failure !== undefined) {
    const { outputFailureText } = await import('./print/failure.ts')
    process.stderr.write(outputFailureText(failure))
    await flushed()
  }
  decided = true
  process.exit(exit === 0 && failure !== undefined ? 1 : exit)
}
