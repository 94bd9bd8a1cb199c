import type { ContentPart, Message } from '../message/index.ts'
import type { Fact } from './event.ts'
import { SessionFold } from './fold.ts'
import type { RequestHeader } from './request-events.ts'
import type { SurfaceEntry } from './surface.ts'
import { attemptStart } from './turn-events.ts'

export interface LoggedMessage {
  readonly message: Message
  readonly replay?: unknown
}

/** What a step sent, as the log alone gives it. */
export interface LoggedRequest {
  readonly header: RequestHeader
  readonly messages: readonly LoggedMessage[]
}

/**
 * The request of a step, or `undefined` where the log holds none. All its attempts share it, unless
 * one of them had reasoning dropped. `facts` begin with fact 0 of the session.
 */
export async function requestAt(
  facts: AsyncIterable<Fact> | Iterable<Fact>,
  turn: number,
  step: number,
  attempt = 1,
): Promise<LoggedRequest | undefined> {
  const fold = new SessionFold()
  for await (const fact of facts) {
    if (attemptStart.is(fact) && isAt(fact.data, { turn, step, attempt })) {
      const header = fold.requestHeader
      return header && { header, messages: requestMessages(fold.surface, header) }
    }
    fold.add(fact)
  }
  return undefined
}

interface Place {
  readonly turn: number
  readonly step: number
  readonly attempt: number
}

function isAt(one: Place, other: Place): boolean {
  return one.turn === other.turn && one.step === other.step && one.attempt === other.attempt
}

/**
 * The messages of a surface for one route. Opaque replay state goes only to the provider and
 * model that made it; any other gets the message without.
 */
export function requestMessages(
  surface: readonly SurfaceEntry[],
  route: { readonly provider: string; readonly model: string },
): LoggedMessage[] {
  return surface.map(({ message, replay }) => {
    const { source } = message
    const own =
      source.kind === 'model' && source.provider === route.provider && source.model === route.model
    if (!own) return { message: withoutReplay(message) }
    return replay === undefined ? { message } : { message, replay }
  })
}

function withoutReplay(message: Message): Message {
  if (!message.content.some(hasReplay)) return message
  const content = message.content.map((part) => {
    return part.type === 'reasoning' ? { type: part.type, text: part.text } : part
  })
  return { ...message, content }
}

function hasReplay(part: ContentPart): boolean {
  return part.type === 'reasoning' && part.replay !== undefined
}
