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

/** Lets a reader go away: what is written afterwards is dropped. */
export function tolerateClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error
    })
  }
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
