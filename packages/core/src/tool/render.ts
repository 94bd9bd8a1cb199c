import { describeFailure, log } from '../kernel/index.ts'
import type { Context } from '../kernel/index.ts'
import type { Rendering } from './hooks.ts'
import type { Tool, ToolContent } from './tool.ts'

/** What a tool shows of a value: its own rendering, else the text or the JSON of the value. */
export function renderValue(ctx: Context, tool: Tool, value: unknown, args: unknown): Rendering {
  return { content: contentOf(ctx, tool, value, args), isError: isFailed(ctx, tool, value) }
}

function contentOf(
  ctx: Context,
  tool: Tool,
  value: unknown,
  args: unknown,
): readonly ToolContent[] {
  try {
    const rendered = tool.render?.(value, args)
    if (typeof rendered === 'string') return [{ type: 'text', text: rendered }]
    if (rendered && rendered.every(isContent)) return rendered
    if (rendered) log(ctx, 'error', `tool ${tool.name} rendered what is not content`)
  } catch (error) {
    // The effect has happened: the model must still learn of it.
    const fields = { error: describeFailure(error) }
    log(ctx, 'error', `tool ${tool.name} could not render its value`, fields)
  }
  return [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }]
}

function isFailed(ctx: Context, tool: Tool, value: unknown): boolean {
  try {
    return tool.failed?.(value) === true
  } catch (error) {
    const fields = { error: describeFailure(error) }
    log(ctx, 'error', `tool ${tool.name} could not tell whether it failed`, fields)
    return true
  }
}

/** Tools and hooks are plugins: what they call content is looked at before it is logged. */
export function isContent(part: unknown): part is ToolContent {
  if (typeof part !== 'object' || part === null || !('type' in part)) return false
  if (part.type === 'text') return 'text' in part && typeof part.text === 'string'
  if (part.type !== 'image' || !('blob' in part)) return false
  const { blob } = part
  return typeof blob === 'object' && blob !== null && 'hash' in blob && 'mediaType' in blob
}
