import { estimateTokens } from '@cordage/core/model'
import type { PinnedFact } from '@cordage/core/session'

/** The kinds by importance, and how many of each are carried at most. */
const KINDS = {
  goal: 1,
  request: 1,
  constraint: 40,
  acceptance: 20,
  obligation: 20,
  todo: 40,
  next: 1,
  blocker: 5,
  error: 8,
  test: 8,
  fact: 20,
  file: 60,
  interface: 20,
  exact: 60,
} as const

export type Kind = keyof typeof KINDS

/** Says where the facts are that were too many. They are few, and no budget takes them. */
const LEFT_OUT = 'left_out'
const MAX_LEFT_OUT = 12
/** Of each kind that plugins contribute; all of theirs together take half of the tokens. */
const MAX_OTHERS = 100
const MAX_OTHERS_SHARE = 0.5
/** So many kinds come before those of plugins: what was asked for binds more. */
const FIRST_KINDS = 4
/** One fact may take so much of all that is carried. */
const MAX_SHARE = 0.25

/** What is carried, each text once for its kind; a later one of the same subject replaces it. */
export class Pins {
  readonly #facts = new Map<string, PinnedFact>()
  /** The episode in which one can look up what has no room. */
  readonly #episodeId: string

  constructor(earlier: readonly PinnedFact[], episodeId: string) {
    for (const fact of earlier) this.#facts.set(keyOf(fact), fact)
    this.#episodeId = episodeId
  }

  has(kind: Kind, text?: string): boolean {
    return [...this.#facts.values()].some((fact) => {
      return fact.kind === kind && (text === undefined || fact.text === text)
    })
  }

  add(kind: Kind, text: string, seq: number): void {
    this.put({ kind, text, seq })
  }

  put(fact: PinnedFact): void {
    const said = { ...fact, text: fact.text.trim() }
    if (said.text === '') return
    this.#facts.delete(keyOf(said))
    this.#facts.set(keyOf(said), said)
  }

  /** Removes what is settled, by how its text begins. */
  drop(kind: Kind, beginning = ''): void {
    for (const [key, fact] of this.#facts) {
      if (fact.kind === kind && fact.text.startsWith(beginning)) this.#facts.delete(key)
    }
  }

  /** The ends of a text for which there is no room, and where all of it is. */
  cut(text: string, maxChars: number, tailShare = 0.25): string {
    if (text.length <= maxChars) return text
    const tailChars = Math.floor(maxChars * tailShare)
    const head = text.slice(0, wholeBefore(text, maxChars - tailChars))
    const tail = text.slice(wholeBefore(text, text.length - tailChars))
    const left = text.length - head.length - tail.length
    return `${head} [… ${left} characters: episode ${this.#episodeId} …] ${tail}`.trim()
  }

  /**
   * The newest of each kind, the most important kinds first, as far as the tokens go; and last of
   * all, of which kinds there were more.
   */
  within(maxTokens: number): PinnedFact[] {
    const kept: PinnedFact[] = []
    const left = new Map<string, number>()
    let room = maxTokens
    let others = maxTokens * MAX_OTHERS_SHARE
    for (const [kind, most, facts] of this.#byImportance()) {
      for (const [at, whole] of facts.toReversed().entries()) {
        const fact = this.#fitting(whole, maxTokens * MAX_SHARE)
        const tokens = estimateTokens(fact.text)
        const free = fact.by === undefined ? room : Math.min(room, others)
        if (at < most && tokens <= free) {
          room -= tokens
          if (fact.by !== undefined) others -= tokens
          kept.push(fact)
        } else left.set(kind, (left.get(kind) ?? 0) + 1)
      }
    }
    return [...kept, ...this.#leftOut(left)]
  }

  #byImportance(): [kind: string, most: number, facts: PinnedFact[]][] {
    const facts = [...this.#facts.values()].filter(({ kind }) => kind !== LEFT_OUT)
    const contributed = Object.groupBy(
      facts.filter(({ kind, by }) => by !== undefined || !Object.hasOwn(KINDS, kind)),
      ({ kind }) => kind,
    )
    const own = Object.entries(KINDS).map(([kind, most]): [string, number, PinnedFact[]] => {
      return [kind, most, facts.filter((fact) => fact.kind === kind && fact.by === undefined)]
    })
    const others = Object.entries(contributed).map(
      ([kind, those = []]): [string, number, PinnedFact[]] => [kind, MAX_OTHERS, those],
    )
    return [...own.slice(0, FIRST_KINDS), ...others, ...own.slice(FIRST_KINDS)]
  }

  #fitting(fact: PinnedFact, maxTokens: number): PinnedFact {
    let { text } = fact
    for (let chars = text.length; estimateTokens(text) > maxTokens && chars > 64;) {
      chars = Math.floor(chars / 2)
      text = this.cut(fact.text, chars)
    }
    return text === fact.text ? fact : { ...fact, text }
  }

  #leftOut(counts: ReadonlyMap<string, number>): PinnedFact[] {
    const earlier = [...this.#facts.values()].filter(({ kind }) => kind === LEFT_OUT)
    const what = [...counts].map(([kind, count]) => `${count} ${kind}`).join(', ')
    const where = `episode ${this.#episodeId} and those before it have them`
    const now = what === '' ? [] : [{ kind: LEFT_OUT, text: `no room for ${what}: ${where}` }]
    return [...earlier, ...now].slice(-MAX_LEFT_OUT)
  }
}

/** `at`, or one less where it is within a character. */
function wholeBefore(text: string, at: number): number {
  return /[\uDC00-\uDFFF]/.test(text[at] ?? '') ? at - 1 : at
}

function keyOf({ kind, text, by = '' }: PinnedFact): string {
  return `${by} ${kind} ${text}`
}
