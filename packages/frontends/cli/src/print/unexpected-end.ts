import { foreignRows } from '../boot/underway.ts'

/** Above it are the codes of signals: who sent one knows. */
const SIGNALLED = 128

/**
 * Makes an end that nobody decided a failure: a plugin that calls `process.exit`, or one that
 * waits for what never comes, would look like success.
 */
export function watchForEnd(decided: () => boolean): void {
  process.on('exit', (code) => {
    if (decided() || code > SIGNALLED) return
    process.exitCode = code === 0 ? 1 : code
    process.stderr.write(unexpectedEndText(foreignRows()))
  })
}

export function unexpectedEndText(rows: readonly string[]): string {
  const whose = rows.length === 0 ? '' : ` (not ours: the plugins of ${rows.join(', ')})`
  return `cordage: something ended the process before the command was done${whose}\n`
}
