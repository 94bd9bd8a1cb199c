/** A `catalogue` says what is known of models; all others are lists of operations. */
export type LayerKind =
  | 'bundle'
  | 'catalogue'
  | 'plugin'
  | 'profile'
  | 'installation'
  | 'home'
  | 'overlay'

/** Where a value of the composition was written: the layer's kind, its file and the line from 1. */
export interface Origin {
  kind: LayerKind
  file: string
  line: number
}

/** What can be wrong with a composition; each kind has one stable name. */
export type ProblemCode =
  | 'YAML_INVALID'
  | 'OPERATION_INVALID'
  | 'CATALOGUE_INVALID'
  | 'KEY_UNKNOWN'
  | 'ROW_INVALID'
  | 'ROW_UNKNOWN'
  | 'ROW_DUPLICATE'
  | 'ROW_FAILED'
  | 'ROW_IN_USE'
  | 'PRESET_UNKNOWN'
  | 'PRESET_CYCLE'
  | 'ENV_UNSET'
  | 'PACKAGE_MISSING'
  | 'PACKAGE_INVALID'
  | 'API_INCOMPATIBLE'
  | 'CONFIG_INVALID'
  | 'CONFIG_OUTDATED'
  | 'SERVICE_MISSING'
  | 'SERVICE_DUPLICATE'
  | 'SERVICE_CYCLE'
  | 'SERVICE_IN_PRESET'

export interface Problem {
  file: string
  line: number
  row?: string
  code: ProblemCode
  message: string
  /** What to do about it, as a sentence. */
  hint?: string
}

/** Something that was skipped on purpose and is worth a line. */
export interface Note {
  file: string
  line: number
  row?: string
  message: string
}

export function problem(
  code: ProblemCode,
  origin: Origin,
  message: string,
  more: { row?: string | undefined; hint?: string | undefined } = {},
): Problem {
  const found: Problem = { file: origin.file, line: origin.line, code, message }
  if (more.row !== undefined) found.row = more.row
  if (more.hint !== undefined) found.hint = more.hint
  return found
}

/** One problem as one line for a person: place, what and why, what to do. */
export function problemText(found: Problem): string {
  const hint = found.hint === undefined ? '' : ` ${found.hint}`
  return `${found.file}:${found.line}: ${found.message} [${found.code}]${hint}`
}

/** As a person reads them: each file from top to bottom, the files in the order given. */
export function inOrder(problems: readonly Problem[], files: readonly string[]): Problem[] {
  const rank = new Map(files.map((file, i) => [file, i]))
  const rankOf = ({ file }: Problem): number => rank.get(file) ?? files.length
  return problems.toSorted((a, b) => rankOf(a) - rankOf(b) || a.line - b.line)
}
