import type { Sessions } from '@cordage/core/session'
import type { Store } from '@cordage/core/store'

/** Where transcripts are brought into. */
export interface ImportPlace {
  readonly store: Store
  readonly sessions: Sessions
  /** The project that all of them are to belong to; else each has the one that it had. */
  readonly project: string | undefined
  /** The project of a directory, which need not exist. */
  readonly projectOf: (directory: string) => Promise<string>
  /** For transcripts that do not say where they were made. */
  readonly cwd: string
}
