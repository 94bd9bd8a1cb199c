import {
  compactionEnd,
  compactionPrune,
  compactionStart,
  compactionSummary,
} from './compaction-events.ts'
import type { AnyEventDefinition } from './event.ts'
import { inboxSplice } from './inbox-events.ts'
import {
  reasoningDropped,
  requestContext,
  requestHeader,
  requestMismatch,
  requestPrefix,
} from './request-events.ts'
import {
  sessionArchived,
  sessionChild,
  sessionComposition,
  sessionDirectory,
  sessionImported,
  sessionSalvaged,
  sessionTitle,
} from './session-events.ts'
import { approvalAsked, approvalDecided, toolCall, toolResult } from './tool-events.ts'
import {
  assistantMessage,
  attemptFailed,
  attemptStart,
  contextMessage,
  stepEnd,
  stepStart,
  systemMessage,
  turnEnd,
  turnStart,
  userMessage,
} from './turn-events.ts'
import { anyEvent } from './event.ts'

/** The kinds of fact that every session knows. */
export const coreEvents: readonly AnyEventDefinition[] = [
  anyEvent(turnStart),
  anyEvent(turnEnd),
  anyEvent(stepStart),
  anyEvent(stepEnd),
  anyEvent(userMessage),
  anyEvent(systemMessage),
  anyEvent(contextMessage),
  anyEvent(assistantMessage),
  anyEvent(attemptStart),
  anyEvent(attemptFailed),
  anyEvent(requestHeader),
  anyEvent(requestContext),
  anyEvent(requestMismatch),
  anyEvent(requestPrefix),
  anyEvent(reasoningDropped),
  anyEvent(toolCall),
  anyEvent(toolResult),
  anyEvent(inboxSplice),
  anyEvent(approvalAsked),
  anyEvent(approvalDecided),
  anyEvent(compactionStart),
  anyEvent(compactionSummary),
  anyEvent(compactionPrune),
  anyEvent(compactionEnd),
  anyEvent(sessionChild),
  anyEvent(sessionComposition),
  anyEvent(sessionDirectory),
  anyEvent(sessionTitle),
  anyEvent(sessionArchived),
  anyEvent(sessionImported),
  anyEvent(sessionSalvaged),
]

const byType = new Map(coreEvents.map((definition) => [definition.type, definition]))

export function coreEvent(type: string): AnyEventDefinition | undefined {
  return byType.get(type)
}
