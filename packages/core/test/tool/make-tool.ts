import type { Effect } from '@cordage/core/policy'
import { defineTool, type Tool, type ToolRun } from '@cordage/core/tool'
import { z } from 'zod'

const parameters = z.object({ path: z.string().optional(), text: z.string().optional() })
export type MadeArgs = z.output<typeof parameters>
export type MadeTool = Tool<MadeArgs, unknown>

/** A tool whose body is the test's; by default it declares nothing and may overlap. */
export function makeTool(
  name: string,
  execute: (args: MadeArgs, run: ToolRun) => Promise<unknown>,
  more: Partial<MadeTool> = {},
): MadeTool {
  return defineTool<MadeArgs, unknown>({
    name,
    description: `Does ${name}.`,
    parameters,
    effects: () => [],
    concurrent: () => true,
    execute,
    ...more,
  })
}

export const reads = ({ path = '' }: MadeArgs): Effect[] => [{ kind: 'fs:read', path }]
export const writes = ({ path = '' }: MadeArgs): Effect[] => [{ kind: 'fs:write', path }]

/** Declares a write and writes `text`. */
export const writeTool = makeTool(
  'put',
  async ({ path = '', text = '' }, run) => {
    await using target = await run.fs.forWrite(path, { parents: true })
    await target.write(Buffer.from(text), {})
    return target.path
  },
  { effects: writes },
)

/** Declares a read and answers the text of the file. */
export const readTool = makeTool(
  'get',
  async ({ path = '' }, run) => {
    await using target = await run.fs.forRead(path)
    const { bytes } = await target.read()
    return Buffer.from(bytes).toString()
  },
  { effects: reads },
)
