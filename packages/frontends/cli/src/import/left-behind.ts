import { oneLine } from '../print/table.ts'

export interface LeftKind {
  readonly kind: string
  readonly count: number
  readonly examples: readonly string[]
}

const EXAMPLES = 3

/** What of a transcript could not be carried: how often, by kind, with the first few of each. */
export class LeftBehind {
  readonly #kinds = new Map<string, { count: number; examples: string[] }>()

  add(kind: string, example: string): void {
    const known = this.#kinds.get(kind) ?? { count: 0, examples: [] }
    known.count += 1
    if (known.examples.length < EXAMPLES) known.examples.push(oneLine(example.slice(0, 400), 120))
    this.#kinds.set(kind, known)
  }

  get kinds(): readonly LeftKind[] {
    return [...this.#kinds].map(([kind, { count, examples }]) => ({ kind, count, examples }))
  }

  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.kinds.map(({ kind, count }) => [kind, count]))
  }
}

/** A line that is no record. */
export const DAMAGED = 'damaged lines'
