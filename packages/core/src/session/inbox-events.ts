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

/**
 * Every change of the inbox: entries removed (by message id), edited in their place, held or
 * released, inserted at the end, and last of all put into another order.
 */
export const inboxSplice = defineEvent({
  type: 'inbox/splice',
  schema: z.object({
    removed: z.array(z.string()).optional(),
    edited: z.array(message).optional(),
    inserted: z.array(z.object({ queue: z.enum(inboxQueues), message })).optional(),
    held: z.array(z.object({ id: z.string(), reason: z.string() })).optional(),
    released: z.array(z.string()).optional(),
    /** Message ids, in the order of the places that their entries have now. */
    order: z.array(z.string()).optional(),
    cause: z.enum(['send', 'claim', 'edit', 'hold']),
  }),
  initial,
  reduce(state, { data }): InboxState {
    const removed = new Set(data.removed)
    const edited = new Map(data.edited?.map((one) => [one.id, one]))
    const held = new Map(data.held?.map((entry) => [entry.id, entry.reason]))
    const released = new Set(data.released)
    const kept = state
      .filter((entry) => !removed.has(entry.message.id))
      .map((entry): InboxEntry => {
        const { id } = entry.message
        const reason = held.get(id) ?? (released.has(id) ? undefined : entry.held)
        const text = edited.get(id) ?? entry.message
        // One that did not change stays the same object: a step knows by that what it claims.
        if (reason === entry.held && text === entry.message) return entry
        const { queue } = entry
        return { queue, message: text, ...(reason === undefined ? {} : { held: reason }) }
      })
    return ordered([...kept, ...(data.inserted ?? [])], data.order ?? [])
  },
})

/** Entries that are named change places with each other; all others stay where they are. */
function ordered(entries: InboxState, ids: readonly string[]): InboxState {
  const named = [...new Set(ids)]
    .map((id) => entries.find((entry) => entry.message.id === id))
    .filter((entry) => entry !== undefined)
  if (named.length < 2) return entries
  const moved = new Set(named)
  return entries.map((entry) => (moved.has(entry) ? named.shift()! : entry))
}
