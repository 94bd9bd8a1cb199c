import { toolCallsOf, type Message } from '../message/index.ts'

/** What a history is asked about: the roles and parts of its messages. */
export type Paired = Pick<Message, 'role' | 'content'>

/**
 * Whether each tool call has exactly one result after it and each result a call before it. Ids may
 * repeat: of calls that share one the first that waits is answered.
 */
export function toolCallsPaired(messages: readonly Paired[]): boolean {
  return balance(messages)?.at(-1) === 0
}

/**
 * Where a history may be cut so that at least `keepRecentMessageCount` messages stay: the number of
 * messages before the cut, the greatest with both sides paired; -1 where there is none.
 */
export function computeSafeSplitIndex(
  messages: readonly Paired[],
  keepRecentMessageCount: number,
): number {
  return safeSplitBefore(messages, messages.length - keepRecentMessageCount)
}

/** The greatest safe cut with at most `most` messages before it; -1 where there is none. */
export function safeSplitBefore(messages: readonly Paired[], most: number): number {
  const open = balance(messages)
  if (open?.at(-1) !== 0) return -1
  // With nothing open at the cut and all paired in the whole, both sides are paired as well.
  for (let index = Math.min(most, messages.length); index > 0; index -= 1) {
    if (open[index] === 0) return index
  }
  return -1
}

/** How many calls wait for a result before each message and at the end; none with an orphan. */
function balance(messages: readonly Paired[]): number[] | undefined {
  const waiting = new Map<string, number>()
  const open = [0]
  let count = 0
  for (const message of messages) {
    for (const { id } of toolCallsOf(message)) {
      waiting.set(id, (waiting.get(id) ?? 0) + 1)
      count += 1
    }
    for (const part of message.content) {
      if (part.type !== 'tool-result') continue
      const calls = waiting.get(part.callId) ?? 0
      if (calls === 0) return undefined
      waiting.set(part.callId, calls - 1)
      count -= 1
    }
    open.push(count)
  }
  return open
}
