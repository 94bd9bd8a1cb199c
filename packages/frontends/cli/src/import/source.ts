import { readClaudeCode } from './claude-code.ts'
import { readCodex } from './codex.ts'
import { readDsh } from './dsh.ts'
import type { Entry, ImportFormat } from './entry.ts'
import type { LeftBehind } from './left-behind.ts'
import { opencodeFiles, readOpencode } from './opencode.ts'
import { readPi } from './pi.ts'

/** A transcript that was found. */
export interface TranscriptSource {
  readonly from: ImportFormat
  readonly path: string
  /** Transcripts of sub-agents in files of their own. */
  readonly agents: readonly string[]
}

/** All files that a transcript is in, in one order: its hash is theirs. */
export async function filesOf({ from, path, agents }: TranscriptSource): Promise<string[]> {
  if (from !== 'opencode') return [path, ...agents]
  return opencodeFiles(path)
}

export async function* entriesOf(
  { from, path, agents }: TranscriptSource,
  left: LeftBehind,
): AsyncGenerator<Entry> {
  switch (from) {
    case 'claude-code':
      return yield* readClaudeCode(path, left, agents)
    case 'codex':
      return yield* readCodex(path, left)
    case 'opencode':
      return yield* readOpencode(path, left)
    case 'pi':
      return yield* readPi(path, left)
    case 'dsh':
      return yield* readDsh(path, left)
    case 'cordage':
      return undefined
  }
}
