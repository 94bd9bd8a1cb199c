import type { Terminal } from '@cordage/core/command'
import picocolors from 'picocolors'

/** This process's own streams. Nobody reads them any more after `| head`: that is no failure. */
export function ownTerminal(): Terminal {
  const { stdout, stderr } = process
  return {
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
    outIsTerminal: stdout.isTTY === true,
    errIsTerminal: stderr.isTTY === true,
    columns: stderr.columns ?? stdout.columns ?? 80,
    color: stderr.isTTY === true && picocolors.isColorSupported,
  }
}

let failure: Error | undefined

/** Why stdout did not take what was written; a reader that went away is no failure. */
export function stdoutFailure(): Error | undefined {
  return failure
}

/** Lets a reader go away, and keeps what else stdout met; of stderr there is nobody to tell. */
export function tolerateClosedPipes(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'EIO') failure ??= error
  })
  process.stderr.on('error', () => {})
}

/** What a plugin prints for itself goes to stderr: programs read stdout. */
export function keepStdoutForAnswers(): void {
  globalThis.console = new console.Console(process.stderr, process.stderr)
}

/** Resolves when all that was written has left the process. */
export async function flushed(): Promise<void> {
  await Promise.all([drain(process.stdout), drain(process.stderr)])
}

function drain(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed) resolve()
    else stream.write('', () => resolve())
  })
}
