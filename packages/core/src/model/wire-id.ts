import { toolCallsOf } from '../message/index.ts'
import type { RequestMessage } from './request.ts'

/** What a protocol accepts as the id of a tool call. */
export interface WireIdRule {
  readonly maxLength: number
  readonly allowed: RegExp
}

const OWN_ID = /^[A-Za-z0-9_-]+$/

/**
 * The id on the wire of each tool call, by its id in the log. A route gets back the ids that it
 * gave, where they are usable; ids of other routes are fitted to `rule`. Always the same for the
 * same messages, so that the prefix of a request does not change.
 */
export function mapWireIds(
  messages: readonly RequestMessage[],
  provider: string,
  rule: WireIdRule = { maxLength: 64, allowed: OWN_ID },
): (id: string) => string {
  const wireIds = new Map<string, string>()
  for (const { message } of messages) {
    const own = message.source.kind === 'model' && message.source.provider === provider
    const used = new Set<string>()
    for (const { id, wireId } of toolCallsOf(message)) {
      const given = own && wireId && !used.has(wireId) ? wireId : id
      const fitted = own && given === wireId ? given : fit(given, rule)
      used.add(fitted)
      wireIds.set(id, fitted)
    }
  }
  return (id) => wireIds.get(id) ?? fit(id, rule)
}

function fit(id: string, { maxLength, allowed }: WireIdRule): string {
  if (id.length <= maxLength && allowed.test(id)) return id
  // The tail tells ids apart: many begin with the same words.
  return id.replace(/[^A-Za-z0-9_-]/g, '_').slice(-maxLength)
}
