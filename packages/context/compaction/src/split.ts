import {
  computeSafeSplitIndex,
  safeSplitBefore,
  type AgentState,
  type CompressContext,
} from '@cordage/core/compaction'
import type { Message } from '@cordage/core/message'
import { estimateMessage } from '@cordage/core/model'
import type { Budget } from './budget.ts'
import type { CompactionConfig } from './config.ts'
import { isInevitable } from './due.ts'

/** Of the room: what is left is for estimates that are too low. */
const SAFE_SHARE = 0.75

/** How many messages are summed up; -1 where no place parts no call from its result. */
export function splitOf(
  state: AgentState,
  context: CompressContext,
  budget: Budget,
  config: CompactionConfig,
): number {
  const { messages } = state.history
  const split = preferredSplit(messages, context, budget, config)
  // Whoever asks by hand keeps the last exchange; the next step sees to its room.
  if (context.trigger === 'manual' || !isInevitable(context, budget)) return split
  const kept = messages.slice(Math.max(0, split))
  // A message, or calls with their results, for which there is no room is summed up as well.
  return tokensOf(kept) > roomForTail(messages, context, budget, config)
    ? safeSplitBefore(messages, messages.length)
    : split
}

function preferredSplit(
  messages: readonly Message[],
  { trigger, pressure }: CompressContext,
  { keepTokens }: Budget,
  config: CompactionConfig,
): number {
  if (config.trigger === 'messages' && trigger !== 'overflow') {
    return computeSafeSplitIndex(messages, config.keepRecentMessageCount)
  }
  if (trigger === 'manual') {
    const last = messages.findLastIndex(({ source }) => source.kind === 'user')
    return safeSplitBefore(messages, last > 0 ? last : messages.length - 1)
  }
  // A window that is smaller than declared is known by the request that did not fit.
  const projected = pressure?.projectedTokens ?? Infinity
  const keep =
    trigger === 'overflow' ? Math.min(keepTokens, projected * config.keepShare) : keepTokens
  return safeSplitBefore(messages, messages.length - Math.max(1, tailWithin(messages, keep)))
}

/** How many of the last messages fit. */
function tailWithin(messages: readonly Message[], tokens: number): number {
  let left = tokens
  let count = 0
  for (const message of messages.toReversed()) {
    left -= estimateMessage(message)
    if (left < 0) break
    count += 1
  }
  return count
}

/** What a request holds besides system prompt, tools and a summary. */
function roomForTail(
  messages: readonly Message[],
  { trigger, pressure, pending }: CompressContext,
  { room }: Budget,
  { summary }: CompactionConfig,
): number {
  const projected = pressure?.projectedTokens ?? room
  const known = trigger === 'overflow' ? Math.min(room, projected) : room
  const fixed = Math.max(0, projected - tokensOf(messages) - tokensOf(pending))
  return known * SAFE_SHARE - fixed - Math.min(summary.maxTokens, known / 4)
}

export function tokensOf(messages: readonly Message[]): number {
  return messages.reduce((total, message) => total + estimateMessage(message), 0)
}
