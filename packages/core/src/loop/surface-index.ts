import { toolCallsOf } from '../message/index.ts'
import type { SurfaceEntry } from '../session/index.ts'
import { countSame } from './count-same.ts'

/** What a step has to find on the surface, kept from step to step: a search grows with history. */
export class SurfaceIndex {
  #surface: readonly SurfaceEntry[] = []
  /** The system prompts, oldest first. */
  readonly systems: SurfaceEntry[] = []
  /** The last snapshot of each contributor. */
  readonly contexts = new Map<string, SurfaceEntry>()
  /** The ids of all tool calls. */
  readonly calls = new Set<string>()

  /** Brings the index up to `surface`. */
  at(surface: readonly SurfaceEntry[]): this {
    if (surface === this.#surface) return this
    const same = countSame(this.#surface, surface)
    const grown = same === this.#surface.length
    if (!grown) this.#clear()
    for (const entry of grown ? surface.slice(same) : surface) this.#add(entry)
    this.#surface = surface
    return this
  }

  #clear(): void {
    this.systems.length = 0
    this.contexts.clear()
    this.calls.clear()
  }

  #add(entry: SurfaceEntry): void {
    const { message, contextId } = entry
    if (message.role === 'system') this.systems.push(entry)
    if (contextId !== undefined) this.contexts.set(contextId, entry)
    for (const { id } of toolCallsOf(message)) this.calls.add(id)
  }
}
