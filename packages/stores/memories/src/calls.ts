import type { ForgottenMemory, MemoryItem, MemoryQuery, NewMemory } from '@cordage/core/store'

/** By kind, what the thread is asked and what it answers. */
export interface Calls {
  /** `undefined` where there is no item to replace. */
  add: [{ project: string; memory: NewMemory }, MemoryItem | undefined]
  search: [{ project: string; query: MemoryQuery }, MemoryItem[]]
  list: [{ project: string }, MemoryItem[]]
  /** `undefined` where there is no such item. */
  forget: [{ project: string; id: string }, ForgottenMemory | undefined]
  close: [Record<string, never>, void]
}

export type Call = {
  [Kind in keyof Calls]: { readonly kind: Kind; readonly ask: Calls[Kind][0] }
}[keyof Calls]

export type Answer =
  | {
      readonly value: unknown
      /** Where the file went that was spoiled, when this call has found that. */
      readonly aside: string | undefined
    }
  | { readonly failed: string }
