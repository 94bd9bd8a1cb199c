import type { Fact } from '@cordage/core/session'
import type { Refreshed } from '@cordage/core/store'
import { readFacts } from './facts.ts'
import { livePath, readLive } from './live-lane.ts'
import type { LogPlace } from './log-place.ts'
import { openSegments } from './segment.ts'

/** Finds what an owner adds while somebody looks on; costs little while nothing comes. */
export class Refresher {
  readonly #place: LogPlace & { readonly id: string }
  #next: number
  #live: readonly string[]
  #seen = ''

  constructor(
    place: LogPlace & { readonly id: string },
    seen: { next: number; live: readonly unknown[] },
  ) {
    this.#place = place
    this.#next = seen.next
    this.#live = textsOf(seen.live)
  }

  async refresh(): Promise<Refreshed> {
    const seen = await this.#look()
    if (seen === this.#seen) return { facts: [], live: [] }
    const facts = await this.#newFacts()
    const live = await this.#newLines()
    this.#seen = seen
    return { facts, live }
  }

  /** Changes with whatever is written. */
  async #look(): Promise<string> {
    const { io, directory, id } = this.#place
    const newest = (await openSegments(io, directory, id)).files.at(-1)
    const log = newest && (await io.stat(newest.path))
    const lane = await io.stat(livePath(directory))
    return JSON.stringify([newest?.path, log?.size, lane?.size, lane?.mtimeMs])
  }

  async #newFacts(): Promise<Fact[]> {
    const { io, directory, id, steps } = this.#place
    const facts: Fact[] = []
    const reader = await openSegments(io, directory, id, { steps })
    for await (const fact of readFacts(reader, id, this.#next)) facts.push(fact)
    this.#next += facts.length
    return facts
  }

  /** A lane that does not go on where it was has been emptied meanwhile. */
  async #newLines(): Promise<unknown[]> {
    const lines = await readLive(this.#place.io, this.#place.directory)
    const texts = textsOf(lines)
    const goesOn = this.#live.every((text, index) => text === texts[index])
    const known = goesOn ? this.#live.length : 0
    this.#live = texts
    return lines.slice(known)
  }
}

function textsOf(lines: readonly unknown[]): string[] {
  return lines.map((line) => JSON.stringify(line))
}
