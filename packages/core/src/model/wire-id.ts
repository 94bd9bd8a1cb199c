import { createHash } from 'node:crypto'
import { type Message, toolCallsOf } from '../message/index.ts'
import type { RequestMessage } from './request.ts'

/** What a protocol accepts as the id of a tool call. */
export interface WireIdRule {
  readonly maxLength: number
  readonly allowed: RegExp
}

const OWN_ID: WireIdRule = { maxLength: 64, allowed: /^[A-Za-z0-9_-]+$/ }

type WireIds = readonly (readonly [id: string, wireId: string])[]

/** By rule and message; those of a message that the asking provider made come apart. */
const known = new WeakMap<WireIdRule, Record<'own' | 'foreign', WeakMap<Message, WireIds>>>()

/**
 * The id on the wire of each tool call, by its id in the log. A route gets back the ids that it
 * gave, where they are usable; ids of other routes are fitted to `rule`. Always the same for the
 * same messages, so that the prefix of a request does not change.
 */
export function mapWireIds(
  messages: readonly RequestMessage[],
  provider: string,
  rule: WireIdRule = OWN_ID,
): (id: string) => string {
  const wireIds = new Map<string, string>()
  for (const { message } of messages) {
    if (message.role !== 'assistant') continue
    for (const [id, wireId] of idsOf(message, provider, rule)) wireIds.set(id, wireId)
  }
  return (id) => wireIds.get(id) ?? fit(id, rule, new Set())
}

function idsOf(message: Message, provider: string, rule: WireIdRule): WireIds {
  const kinds = known.get(rule) ?? { own: new WeakMap(), foreign: new WeakMap() }
  known.set(rule, kinds)
  const own = message.source.kind === 'model' && message.source.provider === provider
  const kept = own ? kinds.own : kinds.foreign
  const ids = kept.get(message) ?? makeIds(message, own, rule)
  kept.set(message, ids)
  return ids
}

function makeIds(message: Message, own: boolean, rule: WireIdRule): WireIds {
  const used = new Set<string>()
  return toolCallsOf(message).map(({ id, wireId }) => {
    const given = own && wireId && !used.has(wireId) ? wireId : undefined
    const fitted = given ?? fit(id, rule, used)
    used.add(fitted)
    return [id, fitted] as const
  })
}

function fit(id: string, { maxLength, allowed }: WireIdRule, used: ReadonlySet<string>): string {
  if (id.length <= maxLength && allowed.test(id) && !used.has(id)) return id
  // The tail tells ids apart: many begin with the same words.
  const tail = id.replace(/[^A-Za-z0-9_-]/g, '_').slice(-maxLength)
  if (!used.has(tail)) return tail
  const hash = createHash('sha256').update(id).digest('hex').slice(0, 8)
  return `${tail.slice(0, maxLength - 9)}_${hash}`
}
