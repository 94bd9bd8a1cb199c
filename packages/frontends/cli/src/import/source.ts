import type { Entry, ImportFormat } from './entry.ts'
import type { LeftBehind } from './left-behind.ts'

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
  return (await import('./opencode.ts')).opencodeFiles(path)
}

export async function* entriesOf(
  { from, path, agents }: TranscriptSource,
  left: LeftBehind,
): AsyncGenerator<Entry> {
  switch (from) {
    case 'claude-code':
      return yield* (await import('./claude-code.ts')).readClaudeCode(path, left, agents)
    case 'codex':
      return yield* (await import('./codex.ts')).readCodex(path, left)
    case 'opencode':
      return yield* (await import('./opencode.ts')).readOpencode(path, left)
    case 'pi':
      return yield* (await import('./pi.ts')).readPi(path, left)
    case 'dsh':
      return yield* (await import('./dsh.ts')).readDsh(path, left)
    case 'cordage':
      return undefined
  }
}
