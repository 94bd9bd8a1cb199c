import type { Message } from '../message/index.ts'
import type { RequestParams, ToolSpec } from '../session/index.ts'

/** A message and the opaque state of the route that made it, given back to that route only. */
export interface RequestMessage {
  readonly message: Message
  readonly replay?: unknown
}

/** One request as the loop makes it: frozen for the step, the same for every attempt. */
export interface ModelRequest {
  readonly provider: string
  readonly model: string
  readonly messages: readonly RequestMessage[]
  readonly tools: readonly ToolSpec[]
  readonly params: RequestParams
  /** Reads an image of the request; the bytes never travel through the log. */
  readonly getBlob: (hash: string) => Promise<Uint8Array>
}
