import type { ProcessExit } from '../environment/index.ts'
import type { Job } from './job.ts'

/** How a process ended: `exit code 1`, or why it has none. */
export function exitText({ code, signal, timedOut, aborted, durationMs }: ProcessExit): string {
  const after = seconds(durationMs)
  if (timedOut) return `timed out after ${after} and was ended; what it had done stays done`
  if (aborted) return `aborted after ${after}; what it had done stays done`
  if (signal !== undefined) return `ended by ${signal} after ${after}`
  return `exit code ${code ?? 'unknown'}`
}

/** How a job stands: `running for 12.3 s`, `exit code 1`, `killed: ended by SIGTERM after 3.0 s`. */
export function jobText({ state, exit, killRequested, startedAt }: Job): string {
  if (state === 'running' || !exit) {
    const asked = killRequested ? ', asked to end' : ''
    return `running for ${seconds(Date.now() - startedAt)}${asked}`
  }
  return state === 'killed' ? `killed: ${exitText(exit)}` : exitText(exit)
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
