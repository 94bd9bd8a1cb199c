import type { Processes } from '@cordage/core/environment'
import type { Jobs } from '@cordage/core/job'
import { definePlugin } from '@cordage/core/kernel'
import { defineTool, type ToolRun } from '@cordage/core/tool'
import { z } from 'zod'
import { renderStart, startJob, type BackgroundValue } from './background.ts'
import { capture } from './capture.ts'
import { renderOutcome, type BashValue } from './outcome.ts'
import { throttle } from './throttle.ts'

const config = z.strictObject({
  timeoutMs: z.number().int().min(1).default(120_000).describe('For a call that names none.'),
  maxTimeoutMs: z.number().int().min(1).default(600_000).describe('The most that a call may name.'),
  maxHeadChars: z
    .number()
    .int()
    .min(0)
    .default(2_000)
    .describe('Of long output, shown from its start.'),
  // Head and tail stay under what the pipeline shows of a result, so that it never cuts again.
  maxTailChars: z
    .number()
    .int()
    .min(1)
    .default(27_000)
    .describe('Of long output, shown from its end.'),
  maxSpillBytes: z
    .number()
    .int()
    .min(0)
    .default(64 * 1024 * 1024)
    .describe('Of long output, kept whole in a blob.'),
  maxJobSpillBytes: z
    .number()
    .int()
    .min(0)
    .default(8 * 1024 * 1024)
    .describe('The same for each command in the background.'),
})

type BashConfig = z.output<typeof config>

export default definePlugin({
  name: '@cordage/tool-bash',
  inject: ['tools', 'processes'],
  config,
  apply: (ctx, settings) => {
    // Where there are none the model is not told of them either.
    const jobs = ctx.get('jobs') ? () => ctx.get('jobs') : undefined
    ctx.tools.register(ctx, bashTool(ctx.processes.shell, settings, jobs))
  },
})

interface BashArgs {
  readonly command: string
  readonly timeout_ms?: number | undefined
  readonly description?: string | undefined
  readonly run_in_background?: boolean | undefined
}

function bashTool(
  shell: Processes['shell'],
  settings: BashConfig,
  jobs: (() => Jobs | undefined) | undefined,
) {
  return defineTool<BashArgs, BashValue | BackgroundValue>({
    name: 'bash',
    description: describeTool(shell.kind, settings),
    parameters: parametersOf(settings, jobs !== undefined),
    effects: ({ command }, { cwd }) => [
      { kind: 'process', argv: shell.argv(command), command, cwd },
    ],
    execute: (args, run) => {
      const { command, timeout_ms: timeoutMs, description: title = command } = args
      if (args.run_in_background !== true) return runCommand(command, timeoutMs, run, settings)
      const limits = { ...settings, maxSpillBytes: settings.maxJobSpillBytes }
      return startJob({ command, title, timeoutMs }, run, jobs?.(), limits)
    },
    render: (value) => ('job' in value ? renderStart(value) : renderOutcome(value)),
    failed: (value) => 'exit' in value && hasFailed(value),
    // The command has its own limit; this one is for an environment that does not keep it.
    timeoutMs: settings.maxTimeoutMs + 30_000,
    title: ({ command, description }) => `bash ${description ?? command}`,
  })
}

function parametersOf({ maxTimeoutMs }: BashConfig, withJobs: boolean): z.ZodType<BashArgs> {
  const foreground = z.strictObject({
    command: z.string().min(1),
    timeout_ms: z.number().int().min(1).max(maxTimeoutMs).optional(),
    description: z.string().optional().describe('A few words for people'),
  })
  if (!withJobs) return foreground
  const told = 'Returns a job id at once; no default timeout'
  return foreground.extend({ run_in_background: z.boolean().optional().describe(told) })
}

function hasFailed({ exit }: BashValue): boolean {
  return exit.code !== 0 || exit.timedOut || exit.aborted
}

function describeTool(kind: Processes['shell']['kind'], { timeoutMs, maxTimeoutMs }: BashConfig) {
  const shell = kind === 'powershell' ? 'PowerShell' : kind
  return (
    `Runs a command in a fresh ${shell} in the current directory. Nothing persists between calls: ` +
    'use absolute paths or `cd x && …`. No stdin; background children end with the call. ' +
    `Long output keeps its start and end. Default timeout ${timeoutMs} ms, at most ${maxTimeoutMs}. ` +
    'Prefer read, grep, glob and edit to cat, grep, find and sed.'
  )
}

async function runCommand(
  command: string,
  timeoutMs: number | undefined,
  run: ToolRun,
  settings: BashConfig,
): Promise<BashValue> {
  const running = await run.processes.start({
    argv: run.processes.shell.argv(command),
    shellText: command,
    timeoutMs: timeoutMs ?? Math.min(settings.timeoutMs, settings.maxTimeoutMs),
  })
  const show = throttle((text) => run.progress(text))
  const { head, tail, omittedChars, spill } = await capture(running.output, settings, show)
  const exit = await running.exit
  if (omittedChars === 0) return { exit, output: head + tail }
  const hash = await run.putBlob(spill.bytes())
  const blob = { hash, bytes: spill.total, complete: spill.complete }
  return { exit, output: head, tail, omittedChars, blob }
}
