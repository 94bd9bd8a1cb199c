import { hash } from 'node:crypto'
import {
  coreEvent,
  frozenJson,
  NotJsonError,
  type Fact,
  type SessionHeader,
} from '@cordage/core/session'
import { isSessionId } from '@cordage/core/store'
import { isAbsolute } from 'node:path'
import { DAMAGED, type LeftBehind } from './left-behind.ts'
import { recordsOf } from './lines.ts'
import { isRecord, recordIn, wordsIn, type Loose } from './loose.ts'

/** Whether a line is the first of an export of ours. */
export function isCordage(value: Loose): boolean {
  return value['cordage'] === 'session' && isRecord(value['header'])
}

export type CordageLine =
  | { readonly kind: 'header'; readonly header: SessionHeader; readonly format: number }
  | { readonly kind: 'fact'; readonly fact: Fact }
  | { readonly kind: 'blob'; readonly bytes: Buffer }
  | { readonly kind: 'end'; readonly facts: number }

/** The lines of an export that are what they should be; the others are told. */
export async function* cordageLines(path: string, left: LeftBehind): AsyncGenerator<CordageLine> {
  for await (const { number, value } of recordsOf(path, left)) {
    const line = lineOf(value)
    if (line) yield line
    else left.add(DAMAGED, `line ${number}: ${JSON.stringify(value).slice(0, 200)}`)
  }
}

function lineOf(value: Loose): CordageLine | undefined {
  if ('cordage' in value) {
    const header = headerIn(value['header'])
    const { format } = value
    return header && typeof format === 'number' ? { kind: 'header', header, format } : undefined
  }
  if ('blob' in value) {
    const bytes = Buffer.from(wordsIn(value['base64']), 'base64')
    return hash('sha256', bytes, 'hex') === value['blob'] ? { kind: 'blob', bytes } : undefined
  }
  if ('end' in value) {
    const { facts } = recordIn(value['end'])
    return typeof facts === 'number' ? { kind: 'end', facts } : undefined
  }
  return isFact(value) ? { kind: 'fact', fact: value } : undefined
}

function headerIn(value: unknown): SessionHeader | undefined {
  const header = recordIn(value)
  const { id, project, createdAt, depth, parent, preset, format } = header
  const fits =
    format === 1 &&
    typeof id === 'string' &&
    isSessionId(id) &&
    typeof project === 'string' &&
    isAbsolute(project) &&
    Number.isFinite(createdAt) &&
    isCount(depth) &&
    (preset === undefined || typeof preset === 'string') &&
    (parent === undefined || typeof recordIn(parent)['id'] === 'string')
  return fits ? (header as unknown as SessionHeader) : undefined
}

function isFact(value: unknown): value is Fact {
  const { seq, time, type, v, data } = recordIn(value)
  if (!isCount(seq) || !Number.isFinite(time) || typeof type !== 'string' || !isCount(v))
    return false
  try {
    frozenJson(data)
  } catch (error) {
    if (error instanceof NotJsonError) return false
    throw error
  }
  const definition = coreEvent(type)
  return definition?.version !== v || definition.schema.safeParse(data).success
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
