import { definePlugin } from '@cordage/core/kernel'
import {
  defineTool,
  describeChange,
  escapeFileName,
  readSeenText,
  writeSeenText,
  type TextChange,
  type ToolRun,
} from '@cordage/core/tool'
import { resolve } from 'node:path'
import { z } from 'zod'
import { replaceAll, type Edit } from './replace.ts'

const replacement = {
  old_string: z.string().min(1),
  new_string: z.string(),
  replace_all: z.boolean().optional(),
}

const parameters = z
  .strictObject({
    file_path: z.string().min(1),
    old_string: replacement.old_string.optional(),
    new_string: replacement.new_string.optional(),
    replace_all: replacement.replace_all,
    edits: z
      .array(z.strictObject(replacement))
      .min(1)
      .optional()
      .describe('Instead of old_string: several, applied in order, all or none'),
  })
  .refine(
    ({ old_string, new_string, edits }) =>
      edits ? old_string === undefined : old_string !== undefined && new_string !== undefined,
    'give old_string and new_string, or edits',
  )

type Arguments = z.output<typeof parameters>

export interface EditValue extends TextChange {
  readonly path: string
  readonly replacements: number
}

export default definePlugin({
  name: '@cordage/tool-edit',
  inject: ['tools'],
  apply: (ctx) => {
    ctx.tools.register(ctx, tool)
  },
})

const tool = defineTool<Arguments, EditValue>({
  name: 'edit',
  description:
    'Replaces exact text in a file that was read. old_string must be unique (add lines around ' +
    'it) unless replace_all; no line numbers in it. Line endings are kept.',
  parameters,
  effects: ({ file_path }, { cwd }) => {
    const path = resolve(cwd, file_path)
    return [
      { kind: 'fs:read', path },
      { kind: 'fs:write', path },
    ]
  },
  execute: editFile,
  render: ({ path, replacements, added, removed, excerpt }) => {
    const places = replacements === 1 ? '1 replacement' : `${replacements} replacements`
    const now = excerpt === '' ? '' : ` Now:\n${excerpt}`
    return `Edited ${escapeFileName(path)}: ${places}, +${added} -${removed}.${now}`
  },
  title: ({ file_path }) => `edit ${file_path}`,
})

async function editFile(args: Arguments, run: ToolRun): Promise<EditValue> {
  await using target = await run.fs.forWrite(args.file_path)
  const seen = await readSeenText(run, target)
  const { text, count } = replaceAll(seen.file.text, editsOf(args), target.path)
  await writeSeenText(run, target, seen, text)
  const change = await describeChange(seen.file.text, text)
  return { path: target.path, replacements: count, ...change }
}

function editsOf({ edits, old_string = '', new_string = '', replace_all }: Arguments): Edit[] {
  return edits ?? [{ old_string, new_string, replace_all }]
}
