import { hash } from 'node:crypto'
import type { SessionHeader } from '@cordage/core/session'
import type { SessionWords } from '@cordage/core/store'

export const formatVersion = 1

/** `zstd`: frames of RFC 8878; `none`: the same lines as plain text. A session may hold both. */
export type Encoding = 'zstd' | 'none'

/** What a later segment vouches for: bytes after `bytes` of that segment are never facts. */
export interface Seal {
  readonly segment: number
  readonly bytes: number
  readonly sha256: string
  /** Whose frames the segment bears, where it is shared with the session that this one forks. */
  readonly session?: string
}

/**
 * What leads each payload. `from` and `to` (exclusive) are the facts' range, equal where there are
 * none; `raw` and `size` are the payload's bytes before and after compression, `sum` is over the
 * latter; `prev` is the check of the frame before in the segment.
 */
export interface FrameMeta {
  readonly v: number
  readonly kind: 'header' | 'facts' | 'snapshot' | 'seal'
  readonly session: string
  readonly segment: number
  readonly from: number
  readonly to: number
  readonly raw: number
  readonly size: number
  readonly sum: string
  readonly prev: string
  readonly header?: SessionHeader
  readonly seals?: readonly Seal[]
  /** Of snapshots: what a list shows of the session, so that the payload need not be read. */
  readonly words?: SessionWords
}

/** A frame that was found whole: its bytes go from `start` to `end`, its payload from `payload`. */
export interface Frame {
  readonly meta: FrameMeta
  readonly check: string
  readonly start: number
  readonly payload: number
  readonly payloadEnd: number
  readonly end: number
  /** Only ever of snapshots, which can be done without: the payload does not match its sum. */
  readonly spoiled: boolean
}

/** `torn`: the bytes end too early; `damaged`: they are not what was written. */
export interface FrameProblem {
  readonly problem: 'torn' | 'damaged' | 'newer'
  readonly reason: string
  readonly format?: number
  /** What the frame says of itself, where that much of it is whole. */
  readonly meta?: FrameMeta
}

export const maxRawBytes = 256 * 1024 * 1024
const skippableMagic = 0x184d2a5c
const opening = '["cordage","'
export const frameMarker = Buffer.from(opening)
/** Where the marker stands in a frame. */
export const markerOffset = { zstd: 8, none: 0 } as const
const checkLength = 32
const maxLineBytes = 256 * 1024

/** Half a SHA-256: plenty against accidents, which is all that it guards against. */
export function digest(bytes: Uint8Array | string): string {
  return hash('sha256', bytes, 'hex').slice(0, checkLength)
}

/** Whether stock `zstd -dc` prints the payload. */
function printed(kind: FrameMeta['kind']): boolean {
  return kind === 'facts' || kind === 'header'
}

export function encodeFrame(
  meta: FrameMeta,
  payload: Buffer,
  encoding: Encoding,
): { bytes: Buffer; check: string } {
  const json = JSON.stringify(meta)
  const check = digest(json)
  const line = Buffer.from(`${opening}${check}",${json}]\n`)
  if (encoding === 'none') return { bytes: Buffer.concat([line, payload]), check }
  const inside = printed(meta.kind) ? line.length : line.length + payload.length
  const lead = Buffer.allocUnsafe(8)
  lead.writeUInt32LE(skippableMagic, 0)
  lead.writeUInt32LE(inside, 4)
  return { bytes: Buffer.concat([lead, line, payload]), check }
}

/** The frame at `start`, verified but for its place in the chain. */
export function decodeFrame(
  bytes: Buffer,
  start: number,
  encoding: Encoding,
): Frame | FrameProblem {
  const line = readLine(bytes, start, encoding)
  if ('problem' in line) return line
  const { meta } = line
  if (meta.v <= formatVersion) return decodePayload(bytes, start, encoding, line)
  // A later format may be laid out as this one is, or not.
  const found = isLaidOut(meta) ? decodePayload(bytes, start, encoding, line) : damaged('another')
  const unreadable = 'problem' in found && found.problem === 'damaged'
  return unreadable ? { problem: 'newer', reason: `is of format ${meta.v}`, format: meta.v } : found
}

function isLaidOut({ kind, session, segment, from, to, raw, size, sum, prev }: FrameMeta): boolean {
  const numbers = [segment, from, to, raw, size].every(Number.isSafeInteger)
  const texts = [session, sum, prev].every((text) => typeof text === 'string')
  return numbers && texts && ['header', 'facts', 'snapshot', 'seal'].includes(kind)
}

function decodePayload(
  bytes: Buffer,
  start: number,
  encoding: Encoding,
  line: FrameLine,
): Frame | FrameProblem {
  const { meta, check, end: payload } = line
  const end = payload + meta.size
  const inside = encoding === 'zstd' && line.contentEnd
  if (inside && inside !== (printed(meta.kind) ? payload : end)) return damaged('a wrong length')
  if (end > bytes.length) return { ...torn(), meta }
  const matches = digest(bytes.subarray(payload, end)) === meta.sum
  if (!matches && meta.kind !== 'snapshot')
    return { ...damaged('a payload that was changed'), meta }
  if (meta.raw > maxRawBytes) return damaged('a batch larger than any that is written')
  return { meta, check, start, payload, payloadEnd: end, end, spoiled: !matches }
}

/** What leads the frame at `start` and where that ends, the payload not being looked at. */
export function frameHead(
  bytes: Buffer,
  start: number,
  encoding: Encoding,
): { meta: FrameMeta; end: number } | undefined {
  const line = readLine(bytes, start, encoding)
  return 'problem' in line ? undefined : { meta: line.meta, end: line.end + line.meta.size }
}

interface FrameLine {
  readonly meta: FrameMeta
  readonly check: string
  readonly end: number
  readonly contentEnd: number
}

function readLine(bytes: Buffer, start: number, encoding: Encoding): FrameLine | FrameProblem {
  let at = start
  let contentEnd = bytes.length
  if (encoding === 'zstd') {
    if (start + 8 > bytes.length) return torn()
    if (bytes.readUInt32LE(start) !== skippableMagic) return damaged('no frame where one begins')
    at = start + 8
    contentEnd = at + bytes.readUInt32LE(start + 4)
  }
  const window = bytes.subarray(at, Math.min(contentEnd, at + maxLineBytes))
  const newline = window.indexOf(10)
  if (newline < 0) {
    return at + window.length === bytes.length ? torn() : damaged('a frame without a line')
  }
  const line = window.toString('latin1', 0, newline)
  const check = line.slice(opening.length, opening.length + checkLength)
  const json = window.subarray(opening.length + checkLength + 2, Math.max(newline - 1, 0))
  const whole = `${opening}${check}",` === line.slice(0, opening.length + checkLength + 2)
  if (!whole || !line.endsWith(']') || digest(json) !== check) {
    return damaged('a frame that was changed')
  }
  const meta = JSON.parse(json.toString()) as FrameMeta
  return { meta, check, end: at + newline + 1, contentEnd }
}

function torn(): FrameProblem {
  return { problem: 'torn', reason: 'ends in the middle of a batch' }
}

function damaged(what: string): FrameProblem {
  return { problem: 'damaged', reason: `holds ${what}` }
}
