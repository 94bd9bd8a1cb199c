import type { Usage } from '../message/index.ts'

export type FinishReason = 'stop' | 'tool-calls' | 'max-tokens' | 'content-filter' | (string & {})

/**
 * What an adapter yields, in arrival order. `index` names a tool call within the answer: the id
 * and name may come late, `arguments` in pieces or whole. `usage` replaces what was said before.
 * A stream that ends without `finish` is a failure (`STREAM_CLOSED`).
 */
export type ModelEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string; readonly replay?: unknown }
  | {
      readonly type: 'tool-call'
      readonly index: number
      readonly id?: string
      readonly name?: string
      readonly arguments?: string
    }
  | { readonly type: 'usage'; readonly usage: Usage }
  | { readonly type: 'finish'; readonly reason: FinishReason; readonly replay?: unknown }
