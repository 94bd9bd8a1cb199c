import { definePlugin } from '@cordage/core/kernel'
import { defineTool, escapeFileName, type ToolRun } from '@cordage/core/tool'
import { resolve } from 'node:path'
import { z } from 'zod'
import type { PatchedFile } from './commit.ts'
import { parse, pathsOf } from './parse.ts'

const parameters = z.strictObject({ patch: z.string().min(1) })

type Arguments = z.output<typeof parameters>

export interface PatchValue {
  readonly files: readonly PatchedFile[]
}

export default definePlugin({
  name: '@cordage/tool-apply-patch',
  inject: ['tools'],
  apply: (ctx) => {
    ctx.tools.register(ctx, tool)
  },
})

const tool = defineTool<Arguments, PatchValue>({
  name: 'apply_patch',
  description:
    'Changes several files that were read, all or none: *** Begin Patch, then *** Add File: p ' +
    '(+ lines), *** Delete File: p, or *** Update File: p (*** Move to: q) with @@ hunks, then ' +
    '*** End Patch. Unified diffs work too.',
  parameters,
  effects: ({ patch }, { cwd }) =>
    pathsOf(patch).flatMap((name) => {
      const path = resolve(cwd, name)
      return [{ kind: 'fs:read', path } as const, { kind: 'fs:write', path } as const]
    }),
  execute: applyPatch,
  render: ({ files }) => files.map(renderFile).join('\n'),
  failed: ({ files }) => files.some((file) => file.error !== undefined),
  title: ({ patch }) => `apply_patch ${pathsOf(patch).join(' ')}`,
})

async function applyPatch({ patch }: Arguments, run: ToolRun): Promise<PatchValue> {
  // Only who patches something pays for them.
  const [{ planPatch }, { commitPlan }] = await Promise.all([
    import('./plan.ts'),
    import('./commit.ts'),
  ])
  await using plan = await planPatch(parse(patch), run)
  return { files: await commitPlan(plan.files, run) }
}

function renderFile(file: PatchedFile): string {
  const { action, added, removed, excerpt, error } = file
  const path = escapeFileName(file.path)
  if (error) return `NOT ${action}: ${path}: ${error.message}`
  const from = file.movedFrom === undefined ? '' : ` from ${escapeFileName(file.movedFrom)}`
  const summary = `${action}${from}: ${path} +${added} -${removed}`
  return action === 'updated' ? `${summary}\n${excerpt}` : summary
}
