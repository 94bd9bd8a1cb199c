import type { Store } from '@cordage/core/store'

/** What the suite needs of a store under test. */
export interface StoreUnderTest {
  readonly store: Store
  /** Releases what the test made. */
  readonly dispose: () => Promise<void>
}
