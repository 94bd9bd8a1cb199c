import type { Processes } from '@cordage/core/environment'
import { definePlugin } from '@cordage/core/kernel'
import { defineTool, type ToolRun } from '@cordage/core/tool'
import { z } from 'zod'
import { capture } from './capture.ts'
import { renderOutcome, type BashValue } from './outcome.ts'
import { throttle } from './throttle.ts'

const config = z.strictObject({
  timeoutMs: z.number().int().min(1).default(120_000),
  maxTimeoutMs: z.number().int().min(1).default(600_000),
  maxHeadChars: z.number().int().min(0).default(2_000),
  /** Head and tail stay under what the pipeline shows of a result, so that it never cuts again. */
  maxTailChars: z.number().int().min(1).default(27_000),
  maxSpillBytes: z
    .number()
    .int()
    .min(0)
    .default(64 * 1024 * 1024),
})

type BashConfig = z.output<typeof config>

export default definePlugin({
  name: '@cordage/tool-bash',
  inject: ['tools', 'processes'],
  config,
  apply: (ctx, settings) => {
    ctx.tools.register(ctx, bashTool(ctx.processes.shell, settings))
  },
})

function bashTool(shell: Processes['shell'], settings: BashConfig) {
  const parameters = z.strictObject({
    command: z.string().min(1),
    timeout_ms: z.number().int().min(1).max(settings.maxTimeoutMs).optional(),
    description: z.string().optional().describe('A few words for people'),
  })
  return defineTool<z.output<typeof parameters>, BashValue>({
    name: 'bash',
    description: describeTool(shell.kind, settings),
    parameters,
    effects: ({ command }, { cwd }) => [
      { kind: 'process', argv: shell.argv(command), command, cwd },
    ],
    execute: (args, run) => runCommand(args.command, args.timeout_ms, run, settings),
    render: (value) => renderOutcome(value),
    failed: ({ exit }) => exit.code !== 0 || exit.timedOut || exit.aborted,
    // The command has its own limit; this one is for an environment that does not keep it.
    timeoutMs: settings.maxTimeoutMs + 30_000,
    title: ({ command, description }) => `bash ${description ?? command}`,
  })
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
