/** Bytes kept apart from the log under their SHA-256 (hex). `bytes` is the length. */
export interface BlobRef {
  readonly hash: string
  readonly bytes: number
  readonly mediaType: string
  /** Of an image, where it was looked at: pixels. */
  readonly width?: number
  readonly height?: number
}

export interface TextPart {
  readonly type: 'text'
  readonly text: string
}

/** What a model thought. `replay` is opaque to everybody but the route named in the message. */
export interface ReasoningPart {
  readonly type: 'reasoning'
  readonly text: string
  readonly replay?: unknown
}

export interface ImagePart {
  readonly type: 'image'
  readonly blob: BlobRef
}

/** A call that a model asked for; `arguments` is the JSON text exactly as the model wrote it. */
export interface ToolCallPart {
  readonly type: 'tool-call'
  readonly id: string
  readonly name: string
  readonly arguments: string
  /** The id on the wire, where it was empty or repeated and had to be rewritten on ingest. */
  readonly wireId?: string
}

/** The answer to one call. Only text and images go in: a result never nests another. */
export interface ToolResultPart {
  readonly type: 'tool-result'
  readonly callId: string
  readonly name: string
  readonly content: readonly (TextPart | ImagePart)[]
  readonly isError: boolean
}

export type ContentPart = TextPart | ReasoningPart | ImagePart | ToolCallPart | ToolResultPart
