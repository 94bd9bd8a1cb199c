import type { RowKey } from './trees.ts'

export interface Bisection {
  /** The rows that the two trees have differently. */
  readonly differing: readonly RowKey[]
  /** The row that changes the outcome; absent where none does, or the old tree differs already. */
  readonly row?: RowKey
  /** Whether it does so without any other change. */
  readonly alone?: boolean
  readonly replays: number
}

/**
 * Finds the row with which a session goes another way: `differs` replays it with only the given
 * rows changed. Halves the list, so that it takes as many replays as its logarithm.
 */
export async function bisectRows(
  differing: readonly RowKey[],
  differs: (taken: ReadonlySet<RowKey>) => Promise<boolean>,
): Promise<Bisection> {
  let replays = 0
  const ask = (rows: readonly RowKey[]) => {
    replays += 1
    return differs(new Set(rows))
  }
  if (differing.length === 0 || (await ask([])) || !(await ask(differing))) {
    return { differing, replays }
  }
  let [same, other] = [0, differing.length]
  while (other - same > 1) {
    const middle = Math.floor((same + other) / 2)
    if (await ask(differing.slice(0, middle))) other = middle
    else same = middle
  }
  const row = differing[other - 1] as RowKey
  const alone = await ask([row])
  return { differing, row, alone, replays }
}
