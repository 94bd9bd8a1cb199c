import type { Fact, SessionHeader } from '@cordage/core/session'
import type { Snapshot } from '@cordage/core/store'

export const LOCATION = 'memory'

/** One session as the store keeps it; the logs that are open on it share it. */
export interface Stored {
  readonly header: SessionHeader
  readonly facts: Fact[]
  readonly blobs: Map<string, Uint8Array>
  snapshot: Snapshot | undefined
  live: unknown[]
  bytes: number
  updatedAt: number
  /** The log that may write. */
  owner: object | undefined
  deleted: boolean
}

export function newStored(header: SessionHeader): Stored {
  return {
    header: asJson(header),
    facts: [],
    blobs: new Map(),
    snapshot: undefined,
    live: [],
    bytes: 0,
    updatedAt: Date.now(),
    owner: undefined,
    deleted: false,
  }
}

export function isOwned(stored: Stored): boolean {
  return stored.owner !== undefined
}

/** What comes back from a real store: a copy that went through JSON text. */
export function asJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T
}
