import type { JobCapture, Jobs } from '@cordage/core/job'
import { toolError, type ToolRun } from '@cordage/core/tool'
import { capture, type CaptureLimits } from './capture.ts'

/** A command that goes on as a job. */
export interface BackgroundValue {
  readonly job: string
  readonly pid: number
}

export interface BackgroundCommand {
  readonly command: string
  readonly title: string
  readonly timeoutMs: number | undefined
}

/** Starts a command as one of the foreground is started, and hands it over to the agent's jobs. */
export async function startJob(
  { command, title, timeoutMs }: BackgroundCommand,
  run: ToolRun,
  jobs: Jobs | undefined,
  limits: CaptureLimits,
): Promise<BackgroundValue> {
  if (!jobs) {
    const reason = 'no row gives ctx.jobs any more; the row core-job does'
    throw toolError('TOOL_FAILED', { tool: 'bash', row: 'tool-bash', reason })
  }
  jobs.admit(run.scope)
  const process = await run.processes.start({
    argv: run.processes.shell.argv(command),
    shellText: command,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  })
  const { putBlob } = run.processes.detach(process)
  const keep: JobCapture = async (output, show) => {
    const { omittedChars, spill } = await capture(output, limits, show)
    if (omittedChars === 0) return undefined
    const hash = await putBlob(spill.bytes())
    return { hash, bytes: spill.total, complete: spill.complete }
  }
  const start = { title, callId: run.callId, process, capture: keep }
  const { id: job, pid } = jobs.start(run.scope, start)
  return { job, pid }
}

export function renderStart({ job, pid }: BackgroundValue): string {
  return `running in the background as ${job}, pid ${pid}`
}
