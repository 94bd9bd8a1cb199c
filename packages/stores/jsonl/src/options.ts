import { join } from 'node:path'
import type { Io } from '@cordage/core/store'
import type { Catalog } from './catalog.ts'
import type { Encoding } from './frame.ts'
import type { FormatStep } from './format-steps.ts'

export interface JsonlStoreOptions {
  /** Absolute. Made at the first session. */
  readonly directory: string
  readonly segmentMaxBytes: number
  readonly compression: Encoding
  readonly io: Io
  /** How logs of older formats are read; those that this version knows unless given. */
  readonly steps?: readonly FormatStep[]
  /** Without one, every list reads the beginnings of the logs. */
  readonly catalog?: Catalog
  /** Runs around each removal, which `remove` does; gives what that gives. */
  readonly removing?: (id: string, remove: () => Promise<boolean>) => Promise<boolean>
}

/** The file whose lock says that the session has a live owner. */
export function leasePath(directory: string): string {
  return join(directory, 'lease.db')
}
