import { isDeepStrictEqual } from 'node:util'
import { textOf } from '../message/index.ts'
import {
  compactionEnd,
  type PrefixChange,
  type RequestHeader,
  type Session,
  type SurfaceEntry,
} from '../session/index.ts'

/** What an attempt was made of: its request is a function of both. */
export interface Sent {
  /** Of the attempt. */
  readonly seq: number
  readonly header: RequestHeader
  readonly surface: readonly SurfaceEntry[]
}

/** Why the request that `session` gives now does not begin as the one before it. */
export function explainChange(before: Sent, session: Session): PrefixChange[] {
  const now = session.requestHeader as RequestHeader
  const parts = partChanges(before.header, now)
  const changes = [
    ...routeChanges(before.header, now),
    ...parts,
    ...systemChanges(before, session, parts),
    ...historyChanges(before, session),
  ]
  return changes.length > 0 ? changes : [{ why: 'route', part: nameOf(now) }]
}

const nameOf = ({ provider, model }: RequestHeader) => `${provider}/${model}`

function routeChanges(before: RequestHeader, now: RequestHeader): PrefixChange[] {
  if (nameOf(before) !== nameOf(now)) return [{ why: 'model', part: nameOf(now) }]
  return isDeepStrictEqual(before.params, now.params) ? [] : [{ why: 'params' }]
}

/** Of sections and tools, by what the headers say of them. */
function partChanges(before: RequestHeader, now: RequestHeader): PrefixChange[] {
  const [old, fresh] = [partsOf(before), partsOf(now)]
  const changes: PrefixChange[] = []
  for (const [part, { by }] of old) {
    if (!fresh.has(part)) changes.push({ why: 'removed', ...by })
  }
  for (const [part, { by, is }] of fresh) {
    const was = old.get(part)
    if (!was) changes.push({ why: 'added', ...by })
    else if (!isDeepStrictEqual(was.is, is)) changes.push({ why: 'changed', ...by })
  }
  const order = [...old.keys()].filter((part) => fresh.has(part))
  const stayed = [...fresh].filter(([part]) => old.has(part))
  const moved = stayed.find(([part], at) => part !== order[at])?.[1]
  return moved ? [...changes, { why: 'moved', ...moved.by }] : changes
}

function partsOf({ origin, tools }: RequestHeader) {
  const specs = new Map(tools.map((tool) => [`tool: ${tool.name}`, tool]))
  return new Map(
    origin.map(({ part, row, tokens, stability, digest = tokens }) => {
      const by = { part, row, ...(stability ? { stability } : {}) }
      return [part, { by, is: specs.get(part) ?? digest }]
    }),
  )
}

/** It was put elsewhere, or changed where no header says what its sections were. */
function systemChanges(
  before: Sent,
  { surface }: Session,
  parts: readonly PrefixChange[],
): PrefixChange[] {
  const explained = parts.some(({ part }) => part?.startsWith('system: '))
  return explained || isSameSystem(before.surface, surface)
    ? []
    : [{ why: 'changed', part: 'system' }]
}

function isSameSystem(before: readonly SurfaceEntry[], now: readonly SurfaceEntry[]): boolean {
  const [old = [], fresh = []] = [before, now].map((surface) =>
    surface
      .filter(({ message }) => message.role === 'system')
      .map(({ message }) => textOf(message)),
  )
  // One that was appended moves nothing.
  return old.every((text, at) => text === fresh[at])
}

/** Messages that were there and are not any more, or say less. */
function historyChanges(before: Sent, session: Session): PrefixChange[] {
  const now = new Map(session.surface.map(({ seq, message }) => [seq, message]))
  const isCompacted = (session.state(compactionEnd).seq ?? -1) > before.seq
  const whys = new Set<PrefixChange['why']>()
  for (const { seq, message } of before.surface) {
    const left = now.get(seq)
    if (left === message || message.role === 'system') continue
    if (left) whys.add(message.role === 'tool' ? 'pruning' : 'reasoning')
    else whys.add(isCompacted ? 'compaction' : 'reasoning')
  }
  const summary = session.surface.find(({ seq, message: { source } }) => {
    return seq > before.seq && source.kind === 'plugin' && source.form === 'summary'
  })
  // Of a compaction that came before anybody remembered what was there, only this is left.
  if (isCompacted && whys.size === 0) whys.add(summary ? 'compaction' : 'pruning')
  const { source } = summary?.message ?? {}
  const row = source?.kind === 'plugin' ? { row: source.row } : {}
  return [...whys].map((why) => ({ why, ...(why === 'compaction' ? row : {}) }))
}
