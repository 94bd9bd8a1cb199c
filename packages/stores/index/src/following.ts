import type { Context } from '@cordage/core/kernel'
import type { Fact, Session } from '@cordage/core/session'

/** As many facts of a session wait to be indexed; where more come its log is read. */
const maxWaiting = 1_000

/** What a session has added, and where its blobs are. */
export interface Heard {
  readonly facts: readonly Fact[]
  readonly getBlob: (hash: string) => Promise<Uint8Array>
}

interface Followed {
  readonly session: Session
  readonly waiting: Fact[]
}

/** Keeps what the sessions of this process add between two searches, so that nobody reads it back. */
export class Following {
  readonly #ctx: Context
  readonly #followed = new Map<string, Followed>()

  constructor(ctx: Context) {
    this.#ctx = ctx
  }

  /** Begins to listen to those that are open now. */
  watch(sessions: readonly Session[]): void {
    for (const session of sessions) {
      if (session.writable && !this.#followed.has(session.id)) this.#follow(session)
    }
  }

  hasHeard(id: string): boolean {
    return (this.#followed.get(id)?.waiting.length ?? 0) > 0
  }

  /** All that came from fact `next` on; `undefined` where that is not all that there is. */
  take(id: string, next: number): Heard | undefined {
    const followed = this.#followed.get(id)
    if (!followed) return undefined
    const facts = followed.waiting.splice(0).filter(({ seq }) => seq >= next)
    if (facts[0]?.seq !== next) return undefined
    return { facts, getBlob: (hash) => followed.session.getBlob(hash) }
  }

  #follow(session: Session): void {
    const waiting: Fact[] = []
    this.#followed.set(session.id, { session, waiting })
    session.watch(
      this.#ctx,
      (update) => {
        if (update.kind !== 'fact') return
        if (waiting.length >= maxWaiting) waiting.length = 0
        waiting.push(update.fact)
      },
      () => this.#followed.delete(session.id),
    )
  }
}
