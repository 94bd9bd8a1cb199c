import { CommanderError } from 'commander'
import { homeOf, logFileOf, version } from './boot/installation.ts'
import { createProgram } from './program.ts'
import { flushed, tolerateClosedPipes } from './print/terminal.ts'

/** Runs the command line and ends the process with the exit code of DESIGN section 7. */
export async function main(args: readonly string[]): Promise<void> {
  tolerateClosedPipes()
  const debug = args.includes('--debug')
  process.on('uncaughtException', (error) => void failOrGiveUp(error, debug))
  try {
    if (args[0] === '__complete') {
      const { complete } = await import('./commands/complete.ts')
      process.stdout.write(await complete(args.slice(1)))
      return await end(0)
    }
    let exit = 0
    const program = createProgram(version, (code) => (exit = code))
    if (args.length === 0 && process.stdin.isTTY) {
      const { welcome } = await import('./commands/welcome.ts')
      process.stdout.write(process.stdout.isTTY ? await welcome() : program.helpInformation())
      return await end(0)
    }
    await program.parseAsync(args, { from: 'user' })
    await end(exit)
  } catch (error) {
    if (error instanceof CommanderError) await end(error.exitCode === 0 ? 0 : 2)
    else await fail(error, debug)
  }
}

async function fail(error: unknown, debug: boolean): Promise<void> {
  const { failureText, logFailure } = await import('./print/failure.ts')
  const { toExitCode } = await import('@cordage/core/error')
  const logFile = logFileOf(homeOf(process.env))
  logFailure(error, logFile, process.env)
  process.stderr.write(failureText(error, { debug, logFile }))
  await end(toExitCode(error))
}

/** A failure of the report itself would come back as the next uncaught one, for ever. */
async function failOrGiveUp(error: unknown, debug: boolean): Promise<void> {
  try {
    await fail(error, debug)
  } catch (again) {
    process.stderr.write(`cordage: ${again instanceof Error ? again.stack : String(again)}\n`)
    process.exit(1)
  }
}

async function end(exit: number): Promise<void> {
  await flushed()
  process.exit(exit)
}
