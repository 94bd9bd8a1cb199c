/** What a patch asks for, in whichever of the two formats it came. */
export type FilePatch =
  | { readonly kind: 'add'; readonly path: string; readonly text: string }
  | { readonly kind: 'delete'; readonly path: string }
  | {
      readonly kind: 'update'
      readonly path: string
      readonly moveTo?: string
      readonly hunks: readonly Hunk[]
    }

export interface Hunk {
  /** Lines that come before it, from the outside in: `class A`, `method b()`. */
  readonly anchors: readonly string[]
  readonly lines: readonly HunkLine[]
  /** It stands at the end of the file. */
  readonly atEnd: boolean
  /** The line (from 1) where its first line was, or was to be, when the patch was made. */
  readonly line?: number
  /** Whether the file ends with a newline afterwards; unset: as before. */
  readonly finalNewline?: boolean
}

export interface HunkLine {
  readonly op: ' ' | '-' | '+'
  readonly text: string
}
