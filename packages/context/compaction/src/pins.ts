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
/** One message may take so much of a kind, unless there is room for all. */
const MAX_MESSAGE_SHARE = 0.25

type Kinds = Map<string, Map<string, PinnedFact>>

/** What is carried, each text once for its kind; a later one of the same subject replaces it. */
export class Pins {
  /** What was said, by kind and text, oldest first. */
  readonly #own: Kinds = new Map()
  /** What plugins have said: nothing that is said in a conversation settles it. */
  readonly #contributed: Kinds = new Map()
  /** The episode in which one can look up what has no room. */
  readonly #episodeId: string

  /** `earlier` is what was carried, the newest first, as `within` gives it. */
  constructor(earlier: readonly PinnedFact[], episodeId: string) {
    for (const fact of earlier.toReversed()) this.put(fact)
    this.#episodeId = episodeId
  }

  has(kind: Kind, text?: string): boolean {
    const facts = [...(this.#own.get(kind)?.values() ?? [])]
    return facts.some((fact) => text === undefined || fact.text === text)
  }

  add(kind: Kind, text: string, seq: number): void {
    this.put({ kind, text, seq })
  }

  put(fact: PinnedFact): void {
    const said = { ...fact, text: fact.text.trim() }
    if (said.text === '') return
    const kinds = said.by === undefined ? this.#own : this.#contributed
    const facts = kinds.get(said.kind) ?? new Map<string, PinnedFact>()
    kinds.set(said.kind, facts)
    const key = `${said.by ?? ''} ${said.text}`
    facts.delete(key)
    facts.set(key, said)
  }

  /** Removes what is settled, by how its text begins. */
  drop(kind: Kind, beginning = ''): void {
    const facts = this.#own.get(kind)
    if (beginning === '') return facts?.clear()
    for (const [key, { text }] of facts ?? []) {
      if (text.startsWith(beginning)) facts?.delete(key)
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
      const chosen = new Map<PinnedFact, PinnedFact>()
      for (const whole of byWorth(facts, most).slice(0, most)) {
        const fact = this.#fitting(whole, maxTokens * MAX_SHARE)
        const tokens = estimateTokens(fact.text)
        if (tokens > (fact.by === undefined ? room : Math.min(room, others))) continue
        room -= tokens
        if (fact.by !== undefined) others -= tokens
        chosen.set(whole, fact)
      }
      kept.push(...facts.toReversed().flatMap((fact) => chosen.get(fact) ?? []))
      const out = facts.length - chosen.size
      if (out > 0) left.set(kind, (left.get(kind) ?? 0) + out)
    }
    return [...kept, ...this.#leftOut(left)]
  }

  #byImportance(): [kind: string, most: number, facts: PinnedFact[]][] {
    const own = Object.entries(KINDS).map(([kind, most]): [string, number, PinnedFact[]] => {
      return [kind, most, [...(this.#own.get(kind)?.values() ?? [])]]
    })
    const unknown = [...this.#own].filter(([kind]) => {
      return kind !== LEFT_OUT && !Object.hasOwn(KINDS, kind)
    })
    const others = [...this.#contributed, ...unknown].map(
      ([kind, facts]): [string, number, PinnedFact[]] => [kind, MAX_OTHERS, [...facts.values()]],
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
    const earlier = [...(this.#own.get(LEFT_OUT)?.values() ?? [])].toReversed()
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

/**
 * The newest first, where one message says so much of a kind that it would push out all that was
 * said before, as a text that was pasted does: what stands at its two ends, and the rest last.
 */
function byWorth(facts: readonly PinnedFact[], most: number): PinnedFact[] {
  const newest = facts.toReversed()
  if (facts.length <= most) return newest
  const first = new Set<PinnedFact>()
  for (const of of Map.groupBy(facts, ({ seq }) => seq).values()) {
    const end = of[0]?.seq === undefined ? of.length : Math.ceil((most * MAX_MESSAGE_SHARE) / 2)
    for (const fact of [...of.slice(0, end), ...of.slice(-end)]) first.add(fact)
  }
  return [...newest.filter((fact) => first.has(fact)), ...newest.filter((fact) => !first.has(fact))]
}
