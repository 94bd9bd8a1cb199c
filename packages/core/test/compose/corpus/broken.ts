import type { LayerKind, ProblemCode, RowReport } from '../../../src/compose/index.ts'

/** A problem: its code, its place as `<kind>.yml:<line>`, words of its text, and its row. */
export type ExpectedProblem = readonly [
  code: ProblemCode,
  place: string,
  words: string,
  row?: string | undefined,
]

/** A row that is not active although the harness is: its state, its place, words of the reason. */
export type ExpectedCulprit = readonly [
  id: string,
  state: RowReport['state'],
  place: string,
  words: string,
]

/**
 * A composition as people break it. A layer's file is `<kind>.yml`; `PLUGINS` in a name stands for
 * the folder of `plugins.ts`. It does not start, with the exit code and every problem in order, or
 * it does, with every other row active.
 */
export interface Broken {
  title: string
  layers: Partial<Record<LayerKind, string>>
  preset?: string
  expect:
    | { exit: 78; problems: readonly ExpectedProblem[] }
    | { exit: 0; culprits: readonly ExpectedCulprit[]; hung?: readonly string[] }
  /** Also runs through the real command line. */
  cli?: true
}

export const ROWS = `- insert:
    - id: tool-bash
      name: '@cordage/tool-bash'
    - id: policy-retry
      name: '@cordage/policy-retry'
      config: { maxRetries: 2 }
`

/** One problem in a bundle, the only layer. */
export function one(
  title: string,
  text: string,
  code: ProblemCode,
  line: number,
  words: string,
  row?: string,
): Broken {
  const problems = [[code, `bundle.yml:${line}`, words, row]] as const
  return { title, layers: { bundle: text }, expect: { exit: 78, problems } }
}

/** One problem in an overlay over `ROWS`. */
export function two(
  title: string,
  text: string,
  code: ProblemCode,
  line: number,
  words: string,
  row?: string,
): Broken {
  const problems = [[code, `overlay.yml:${line}`, words, row]] as const
  return { title, layers: { bundle: ROWS, overlay: text }, expect: { exit: 78, problems } }
}

/** The row `row`, whose fourth line is the given one. */
export function row(line: string): string {
  return `- insert:\n    - id: row\n      name: plugin\n      ${line}\n`
}

export function cli(broken: Broken): Broken {
  return { ...broken, cli: true }
}
