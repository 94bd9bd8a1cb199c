import { nearest, type HarnessError } from '../error/index.ts'
import type { ToolCallPart } from '../message/index.ts'
import { parseArguments } from './arguments.ts'
import { toolError } from './errors.ts'
import type { Tool } from './tool.ts'
import type { ResolvedToolSet } from './tools.ts'

/** A call before anything happens: what it would run, or why it cannot. */
export type PlannedCall = {
  readonly call: ToolCallPart
  readonly concurrent: boolean
} & (
  | { readonly tool: Tool; readonly row: string; readonly args: unknown }
  | { readonly problem: HarnessError }
)

/** Looks the tool up and reads the arguments, without any effect. */
export function planCall(toolset: ResolvedToolSet, call: ToolCallPart): PlannedCall {
  const tool = toolset.tools.get(call.name)
  if (!tool) return { call, concurrent: true, problem: unknownTool(toolset, call.name) }
  const row = toolset.rows.get(call.name) ?? 'core'
  try {
    const parsed = parseArguments(tool.parameters, call.arguments)
    if (parsed.ok) {
      const { args } = parsed
      return { call, tool, row, args, concurrent: isConcurrent(tool, args) }
    }
    const { problems } = parsed
    const values = { tool: call.name, problems }
    return { call, concurrent: true, problem: toolError('INVALID_ARGS', values) }
  } catch (cause) {
    const reason = 'its parameters could not be checked'
    const problem = toolError('TOOL_FAILED', { tool: call.name, row, reason }, { cause })
    return { call, concurrent: true, problem }
  }
}

/** Anything but a plain yes means that the call has to be alone. */
function isConcurrent(tool: Tool, args: unknown): boolean {
  try {
    return tool.concurrent?.(args) === true
  } catch {
    // A tool that cannot say is run alone.
    return false
  }
}

function unknownTool(toolset: ResolvedToolSet, name: string): HarnessError {
  const status = toolset.status.find((each) => each.name === name)
  const near = nearest(name, toolset.tools.keys())
  if (status?.reason !== undefined) {
    return toolError('UNKNOWN_TOOL', { name, hint: `It is not offered: ${status.reason}.` })
  }
  const all = [...toolset.tools.keys()]
  const lead = near.length > 0 ? 'Did you mean' : 'There are'
  const names = near.length > 0 ? near : all
  const hint = names.length === 0 ? 'There are none.' : `${lead} ${names.join(', ')}?`
  return toolError('UNKNOWN_TOOL', { name, hint: hint.replace(/^(There are .*)\?$/, '$1.') })
}
