import { sessionError } from '@cordage/core/session'
import type { StagedLog } from '@cordage/core/store'
import type { LogPlace } from './log-place.ts'
import { JsonlLog, type LogOwner, type LogStart } from './log.ts'
import { writing } from './system-error.ts'

/** What becomes of the folder of a log that is not published yet. */
export interface Staged {
  readonly publish: () => Promise<void>
  readonly remove: () => Promise<void>
}

/** A log in a folder that no list shows. */
export class StagedJsonlLog extends JsonlLog implements StagedLog {
  readonly #staged: Staged
  #ended: Promise<void> | undefined

  constructor(place: LogPlace, start: LogStart, owner: LogOwner, staged: Staged) {
    super(place, start, owner)
    this.#staged = staged
  }

  async publish(): Promise<void> {
    if (this.#ended) throw sessionError('SESSION_CLOSED', { id: this.header.id })
    const published = this.#end(() => this.#staged.publish())
    this.#ended = published.catch(() => {
      // Whoever published is told, and closing has nothing more to do.
    })
    await published
  }

  override close(): Promise<void> {
    return (this.#ended ??= this.#end(() => this.#staged.remove()))
  }

  #end(last: () => Promise<void>): Promise<void> {
    return writing(this.header.id, async () => {
      try {
        await super.close()
        await last()
      } catch (error) {
        await this.#staged.remove()
        throw error
      }
    })
  }
}
