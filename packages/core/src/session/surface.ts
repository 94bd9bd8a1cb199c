import type { Message } from '../message/index.ts'
import type { Stability } from './request-events.ts'

/** One message of what the model sees now, and the fact it comes from. */
export interface SurfaceEntry {
  readonly seq: number
  readonly message: Message
  /** The step it belongs to; absent on what came in from outside a step. */
  readonly step?: { readonly turn: number; readonly step: number }
  /** For `context/message`: the contributor whose snapshot this is. */
  readonly contextId?: string
  /** What that contributor declares of it. */
  readonly stability?: Stability
  /** For assistant messages: opaque state of the route that made it. */
  readonly replay?: unknown
}
