import { environmentError } from '@cordage/core/environment'
import { isHarnessError } from '@cordage/core/error'
import { describeChange, encodeText, type TextChange, type ToolRun } from '@cordage/core/tool'
import type { PlannedFile } from './plan.ts'

export interface PatchedFile extends TextChange {
  readonly path: string
  readonly action: 'added' | 'updated' | 'deleted' | 'moved'
  readonly movedFrom?: string
  /** Why this one could not be changed after all; the others may have been. */
  readonly error?: { readonly code: string; readonly message: string }
}

/** Makes the changes, new content before removals, so that a failure between them loses nothing. */
export async function commitPlan(
  files: readonly PlannedFile[],
  run: ToolRun,
): Promise<PatchedFile[]> {
  const moves = new Set(files.map((file) => file.movedFrom))
  const failed = new Set<string>()
  const results: PatchedFile[] = []
  for (const file of files.filter(({ state }) => state === 'written')) {
    const result = await report(file, actionOf(file), () => writeFile(file, run))
    if (result.error && file.movedFrom !== undefined) failed.add(file.movedFrom)
    results.push(result)
  }
  for (const file of files.filter(({ state, existing }) => state === 'removed' && existing)) {
    // The only copy of a file whose move failed stays.
    if (failed.has(file.path)) continue
    const result = await report(file, 'deleted', () => removeFile(file))
    // The other half of a move tells of it.
    if (result.error || !moves.has(file.path)) results.push(result)
  }
  return results
}

function actionOf({ movedFrom, existing }: PlannedFile): PatchedFile['action'] {
  if (movedFrom !== undefined) return 'moved'
  return existing ? 'updated' : 'added'
}

async function report(
  file: PlannedFile,
  action: PatchedFile['action'],
  change: () => Promise<void>,
): Promise<PatchedFile> {
  const { path, movedFrom, format, after } = file
  const from = movedFrom === undefined ? {} : { movedFrom }
  try {
    await change()
    const before = format?.text ?? ''
    const described = await describeChange(before, action === 'deleted' ? '' : after)
    return { path, action, ...from, ...described }
  } catch (error) {
    if (!isHarnessError(error)) throw error
    const { code, message } = error
    return { path, action, ...from, ...none, error: { code, message } }
  }
}

const none: TextChange = { added: 0, removed: 0, diff: '', excerpt: '' }

async function writeFile(file: PlannedFile, run: ToolRun): Promise<void> {
  const { before, existing, format, after, mode } = file
  await using opened = file.target ? undefined : await run.fs.forWrite(file.path, { parents: true })
  const target = opened ?? file.target
  const bytes = format ? encodeText(format, after) : Buffer.from(after, 'utf8')
  const expect = before?.version ?? existing?.version ?? 'absent'
  const version = await target?.write(bytes, { expect, ...(mode === undefined ? {} : { mode }) })
  if (version !== undefined) run.seen.set(file.path, { version, whole: before?.whole ?? true })
}

async function removeFile({ path, target, before, existing }: PlannedFile): Promise<void> {
  const now = await target?.stat()
  const expected = before?.version ?? existing?.version
  if (now?.version !== expected) throw environmentError('FILE_STALE', { path })
  await target?.remove()
}
