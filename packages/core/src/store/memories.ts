/** Whom it is remembered for: in every project, or in exactly one project directory. */
export type MemoryScope = 'user' | 'project'

/** `user_said`: whole sentences of a person. `verified_fact`: something in the log shows it. */
export type MemoryBasis = 'user_said' | 'verified_fact'

/** The fact of a log that an item comes from. */
export interface MemorySource {
  readonly session: string
  readonly seq: number
  /** Whose words that fact holds: `user`, or the name of a tool. */
  readonly by: string
}

export interface NewMemory {
  readonly text: string
  readonly scope: MemoryScope
  readonly basis: MemoryBasis
  readonly source: MemorySource
  /** Epoch milliseconds. From then on it is not recalled. */
  readonly expires?: number
  /** The item of the same scope that it takes the place of. */
  readonly replaces?: string
}

export interface MemoryItem extends Omit<NewMemory, 'replaces'> {
  readonly id: string
  /** The directory of an item of scope `project`. */
  readonly project?: string
  /** Epoch milliseconds. */
  readonly time: number
  /** The item that has taken its place: it is history. */
  readonly supersededBy?: string
}

export interface MemoryQuery {
  /** Words as for a search over sessions. Where no item has all of them, any of them will do. */
  readonly text: string
  readonly scope?: MemoryScope
  readonly superseded?: boolean
  readonly limit: number
}

export interface ForgottenMemory {
  /** The item that was asked for, then those that it had superseded. */
  readonly items: readonly MemoryItem[]
  /** Items that say the same and stay: the ids of those that are there for who asks. */
  readonly same: readonly string[]
  /** How many more of them other projects have. */
  readonly sameElsewhere: number
  /** Files beside the database that may hold what was forgotten, and were not touched. */
  readonly aside: readonly string[]
}

/**
 * `ctx.memories`: what is remembered across sessions. `project` is the directory of who asks; items
 * of others are not there for it. Every call throws `MEMORIES_FAILED`.
 */
export interface Memories {
  /** Where it keeps them, for people. */
  readonly location: string
  /** The items that were spoiled and set aside, in words for people; absent where none were. */
  readonly notice: string | undefined
  /**
   * What says the same in the same scope is superseded, and so is `replaces`: throws
   * `MEMORY_UNKNOWN` where there is no such item that is current.
   */
  add(project: string, memory: NewMemory): Promise<MemoryItem>
  /** The best first, of equals the newer; nothing that has expired. */
  search(project: string, query: MemoryQuery): Promise<readonly MemoryItem[]>
  /** All that are current or have expired, the newest first. */
  list(project: string): Promise<readonly MemoryItem[]>
  /** Removes an item and those that it superseded, every byte of them. Throws `MEMORY_UNKNOWN`. */
  forget(project: string, id: string): Promise<ForgottenMemory>
}

declare module '@cordage/core/kernel' {
  interface Services {
    memories: Memories
  }
}
