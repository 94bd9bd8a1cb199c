import { environmentError, type FileStat, type Target } from '@cordage/core/environment'
import { isHarnessError, type HarnessError } from '@cordage/core/error'
import {
  escapeFileName,
  readSeenText,
  requireSeen,
  type SeenText,
  type TextFile,
  type ToolRun,
} from '@cordage/core/tool'
import { applyHunks } from './apply-hunks.ts'
import { fail } from './errors.ts'
import type { FilePatch, Hunk } from './patch.ts'

/** One file of the patch, as it is and as it will be. */
export interface PlannedFile {
  readonly path: string
  /** Held open from the check to the write; absent while a directory of the path is missing. */
  readonly target: Target | undefined
  readonly existing: FileStat | undefined
  state: 'untouched' | 'written' | 'removed'
  /** The text in a file that is written. */
  after: string
  /** Read when its text counts. */
  before?: SeenText
  /** How to write it, where it or the file it was moved from is text already. */
  format?: TextFile
  mode?: number
  movedFrom?: string
}

export interface Plan extends AsyncDisposable {
  readonly files: readonly PlannedFile[]
}

type Files = Map<string, PlannedFile>

/**
 * Works out every change without making one. All that does not fit is told at once: throws the
 * failure when it is the only one, else `PATCH_MISMATCH`.
 */
export async function planPatch(patches: readonly FilePatch[], run: ToolRun): Promise<Plan> {
  const files: Files = new Map()
  const problems: HarnessError[] = []
  const dispose = async () => {
    for (const file of files.values()) await file.target?.[Symbol.asyncDispose]()
  }
  try {
    for (const patch of patches) {
      const problem = await planFile(patch, files, run).catch((error: unknown) => error)
      if (isHarnessError(problem)) problems.push(problem)
      else if (problem !== undefined) throw problem
    }
    if (problems.length > 0) throw mergeProblems(problems)
  } catch (error) {
    await dispose()
    throw error
  }
  return { files: [...files.values()], [Symbol.asyncDispose]: dispose }
}

function mergeProblems(problems: readonly HarnessError[]): HarnessError {
  const [first, ...others] = problems
  if (first && others.length === 0) return first
  const details = { problems: problems.map(({ code, message }) => ({ code, message })) }
  const names = others.map((problem) => String(problem.details['path'] ?? problem.code))
  const more = `; nor do ${names.join(', ')}`
  return fail('PATCH_MISMATCH', { reason: first?.message ?? '', more }, { details })
}

async function planFile(patch: FilePatch, files: Files, run: ToolRun): Promise<void> {
  const file = await openFile(patch.path, files, run)
  if (patch.kind === 'add') return planNew(file, patch.text)
  if (!isThere(file)) throw environmentError('FILE_NOT_FOUND', { path: file.path })
  if (patch.kind === 'delete') return planRemoved(file, run)
  const text = await applyTo(file, patch.hunks, run)
  const moved = patch.moveTo === undefined ? file : await openFile(patch.moveTo, files, run)
  if (moved === file) {
    file.state = 'written'
    file.after = text
    return
  }
  planNew(moved, text)
  moved.movedFrom = file.path
  if (file.format) moved.format = file.format
  if (file.existing) moved.mode = file.existing.mode
  file.state = 'removed'
}

async function openFile(path: string, files: Files, run: ToolRun): Promise<PlannedFile> {
  const target = await openTarget(path, run)
  const resolved = target?.path ?? run.fs.resolve(path)
  const known = files.get(resolved)
  if (known) {
    await target?.[Symbol.asyncDispose]()
    return known
  }
  const existing = await target?.stat()
  const file: PlannedFile = { path: resolved, target, existing, state: 'untouched', after: '' }
  files.set(resolved, file)
  if (existing?.kind !== 'directory') return file
  throw environmentError('FILE_IS_DIRECTORY', { path: resolved })
}

async function openTarget(path: string, run: ToolRun): Promise<Target | undefined> {
  try {
    return await run.fs.forWrite(path)
  } catch (error) {
    // A directory of the path is missing, so the file is, too; it is made when it is written.
    if (isHarnessError(error, 'FILE_NOT_FOUND')) return undefined
    throw error
  }
}

function isThere({ state, existing }: PlannedFile): boolean {
  return state === 'written' || (state === 'untouched' && existing !== undefined)
}

function planNew(file: PlannedFile, text: string): void {
  if (isThere(file)) throw environmentError('FILE_EXISTS', { path: file.path })
  file.state = 'written'
  file.after = text
}

function planRemoved(file: PlannedFile, run: ToolRun): void {
  if (file.existing && file.state === 'untouched') {
    const { version } = requireSeen(run, file.path)
    if (version !== file.existing.version) {
      throw environmentError('FILE_STALE', { path: file.path })
    }
  }
  file.state = 'removed'
}

async function applyTo(file: PlannedFile, hunks: readonly Hunk[], run: ToolRun): Promise<string> {
  if (file.state === 'untouched' && file.target) {
    file.before = await readSeenText(run, file.target)
    file.format = file.before.file
    file.after = file.before.file.text
  }
  const applied = applyHunks(file.after, hunks)
  if ('text' in applied) return applied.text
  const reason = `hunk ${applied.hunk} of ${escapeFileName(file.path)}: ${applied.reason}`
  throw fail('PATCH_MISMATCH', { reason, more: '' }, { details: { path: file.path } })
}
