import { defineHook } from '../kernel/index.ts'

/** A file of a project or a person that is not used as it seems meant. */
export interface Finding {
  readonly path: string
  /** Why, in words for a person. */
  readonly reason: string
}

export interface InspectedPlace {
  /** Absolute. */
  readonly project: string
  /** What a tool could be shown there. */
  readonly mayRead: (path: string) => boolean
}

/** For whoever checks a place without an agent: each row adds what it finds to that of `next`. */
export const inspectPlace = defineHook<InspectedPlace, readonly Finding[]>('agent/inspect-place')
