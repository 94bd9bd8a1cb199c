import type { HarnessError } from '@cordage/core/error'
import type { Fact, SessionHeader } from '@cordage/core/session'
import type { SessionLog, Store } from '@cordage/core/store'

/** A fresh, empty store for one test. */
export interface StoreUnderTest {
  readonly store: Store
  /**
   * For a store that several processes can reach: opens `id` for writing in another one, and
   * resolves once it owns it; calling the result ends that process.
   */
  readonly ownElsewhere?: (id: string) => Promise<() => Promise<void>>
  dispose(): Promise<void>
}

export function headerFor(id: string, more: Partial<SessionHeader> = {}): SessionHeader {
  return { format: 1, id, createdAt: 1_700_000_000_000, project: '/project', depth: 0, ...more }
}

export function factAt(seq: number, data: unknown = { text: `fact ${seq}` }): Fact {
  return { seq, time: 1_700_000_000_000 + seq, type: 'test/fact', v: 1, data }
}

export function factsFrom(from: number, count: number): Fact[] {
  return Array.from({ length: count }, (_, index) => factAt(from + index))
}

export async function readAll(log: SessionLog, from = 0): Promise<Fact[]> {
  const facts: Fact[] = []
  for await (const fact of log.read(from)) facts.push(fact)
  return facts
}

/** The code of the error that `promise` rejects with, `undefined` when it does not. */
export async function codeOf(promise: Promise<unknown>): Promise<string | undefined> {
  try {
    await promise
    return undefined
  } catch (error) {
    return (error as HarnessError).code
  }
}

/** The store of the test that runs. */
export type UseStore = () => StoreUnderTest

/** One fact, and a moment's rest: times of files are not finer than a few milliseconds. */
export async function makeSession(store: Store, header: SessionHeader): Promise<void> {
  const log = await store.create(header)
  await log.append(factsFrom(0, 1), { sync: true })
  await log.close()
  await new Promise((resolve) => setTimeout(resolve, 15))
}
