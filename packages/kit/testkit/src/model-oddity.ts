import { toolCallsOf } from '@cordage/core/message'
import { isHarnessError } from '@cordage/core/error'
import type { Assembled } from '@cordage/core/model'
import type { PeerReply } from './model-peer.ts'
import type { WireApi } from './model-wire.ts'

/** Something that servers do and their protocols do not say, and what comes of it. */
export interface Oddity {
  readonly name: string
  /** The reply, or `undefined` where a protocol has no such thing. */
  readonly reply: (api: WireApi) => PeerReply | undefined
  /** As `tell` has it: of all protocols, or of each. */
  readonly result: string | Readonly<Partial<Record<WireApi, string>>>
}

export interface OddityGroup {
  readonly title: string
  /** Whether the count of tokens is what matters. */
  readonly counts?: boolean
  readonly oddities: readonly Oddity[]
}

export function resultOf({ result }: Oddity, api: WireApi): string | undefined {
  return typeof result === 'string' ? result : result[api]
}

/** What came of a request in one line: the parts of an answer and its end, or the code. */
export function tell(answer: Assembled): string {
  const texts = answer.content.flatMap((part) => {
    if (part.type === 'text') return [quote(part.text)]
    return part.type === 'reasoning' ? [`thought ${quote(part.text)}`] : []
  })
  const calls = toolCallsOf(answer).map((call) => `${call.name}(${call.arguments})`)
  // An answer without an end is what the loop makes this failure of.
  return [...texts, ...calls, answer.finish ?? 'STREAM_CLOSED'].join(', ')
}

/** The tokens of an answer; they are estimated where the server gave none. */
export function tellTokens({ usage }: Assembled): string {
  if (!usage) return 'estimated'
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage
  const parts = [`${inputTokens} in`, `${outputTokens} out`]
  if (cacheReadTokens !== undefined) parts.push(`${cacheReadTokens} cached`)
  if (cacheWriteTokens !== undefined) parts.push(`${cacheWriteTokens} to the cache`)
  return parts.join(', ')
}

export function tellFailure(error: unknown): string {
  return isHarnessError(error) ? error.code : String(error)
}

function quote(text: string): string {
  return text.length > 60 ? `${text.length} characters` : JSON.stringify(text)
}
