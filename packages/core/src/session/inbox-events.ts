import { z } from 'zod'
import type { Message } from '../message/index.ts'
import { defineEvent } from './event.ts'
import { messageSchema } from './message-schema.ts'

const message = messageSchema

/** `next-turn` entries open a turn, one each; `next-step` entries join the step that is next. */
export const inboxQueues = ['next-turn', 'next-step'] as const
export type InboxQueue = (typeof inboxQueues)[number]

export interface InboxEntry {
  readonly queue: InboxQueue
  readonly message: Message
  /** Set when a hook rejected the entry: it waits for a person to change or release it. */
  readonly held?: string
}
export type InboxState = readonly InboxEntry[]

const initial: InboxState = []

/** Every change of the inbox: entries removed (by message id), inserted, held or released. */
export const inboxSplice = defineEvent({
  type: 'inbox/splice',
  schema: z.object({
    removed: z.array(z.string()).optional(),
    inserted: z.array(z.object({ queue: z.enum(inboxQueues), message })).optional(),
    held: z.array(z.object({ id: z.string(), reason: z.string() })).optional(),
    released: z.array(z.string()).optional(),
    cause: z.enum(['send', 'claim', 'edit', 'hold']),
  }),
  initial,
  reduce(state, { data }): InboxState {
    const removed = new Set(data.removed)
    const held = new Map(data.held?.map((entry) => [entry.id, entry.reason]))
    const released = new Set(data.released)
    const kept = state
      .filter((entry) => !removed.has(entry.message.id))
      .map(({ held: before, ...entry }) => {
        const reason =
          held.get(entry.message.id) ?? (released.has(entry.message.id) ? undefined : before)
        return reason === undefined ? entry : { ...entry, held: reason }
      })
    return [...kept, ...(data.inserted ?? [])]
  },
})
