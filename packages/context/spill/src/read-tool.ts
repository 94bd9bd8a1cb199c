import { isUtf8 } from 'node:buffer'
import { isHarnessError } from '@cordage/core/error'
import type { PluginContext } from '@cordage/core/kernel'
import { compactionPrune, toolResult, type Session } from '@cordage/core/session'
import {
  characterAt,
  defineTool,
  handleIn,
  handleOfText,
  resultText,
  spillKept,
} from '@cordage/core/tool'
import { z } from 'zod'
import { spillError } from './errors.ts'
import { pageOf, type Page } from './page.ts'

/** Bytes of one page at most: a small window takes less. */
export type PageFor = (session: Session | undefined) => number

export const READ_SPILL = 'read_spill'

/** Reads what the model was not shown, of this session alone. */
export function readTool(ctx: PluginContext<'sessions'>, pageFor: PageFor) {
  const parameters = z.strictObject({
    handle: z.string(),
    offset: z.number().int().min(0).optional(),
    limit: z.number().int().min(1).optional(),
  })
  return defineTool<z.output<typeof parameters>, Page>({
    name: READ_SPILL,
    description: 'Reads what was left out of a result or message; offset and limit in bytes.',
    parameters,
    effects: () => [],
    execute: async ({ handle, offset = 0, limit = Infinity }, run) => {
      const session = ctx.sessions.list().find(({ id }) => id === run.sessionId)
      const bytes = await readWhole(ctx, session, handle)
      if (offset > 0 && offset >= bytes.length) {
        throw spillError('SPILL_PAST_END', { handle, bytes: bytes.length, offset })
      }
      return pageOf(bytes, offset, Math.min(limit, pageFor(session)))
    },
    render: ({ offset, end, bytes, text }) => `bytes ${offset} to ${end} of ${bytes}\n${text}`,
    concurrent: () => true,
    idempotent: true,
    title: ({ handle }) => `read ${handle}`,
  })
}

/** The text that a handle names, as valid UTF-8. */
async function readWhole(
  ctx: PluginContext<'sessions'>,
  session: Session | undefined,
  handle: string,
): Promise<Buffer> {
  const kept = session?.state(spillKept) ?? {}
  const hash = Object.hasOwn(kept, handle) ? kept[handle] : undefined
  const bytes =
    session && hash ? await readBlob(session, handle, hash) : await readPruned(session, handle)
  return clean(bytes, (text) => ctx.get('credentials')?.redact(text) ?? text)
}

async function readBlob(session: Session, handle: string, hash: string): Promise<Buffer> {
  try {
    const { buffer, byteOffset, length } = await session.getBlob(hash)
    return Buffer.from(buffer, byteOffset, length)
  } catch (error) {
    if (!isHarnessError(error, 'BLOB_MISSING')) throw error
    throw spillError('SPILL_LOST', { handle }, { cause: error })
  }
}

/** A result that was pruned later stands whole in the log. */
async function readPruned(session: Session | undefined, handle: string): Promise<Buffer> {
  const seq = session && prunedAt(session, handle)
  if (session && seq !== undefined) {
    for await (const fact of session.read(seq)) {
      const text = toolResult.is(fact) ? resultText(fact.data.part.content) : ''
      if (handleOfText(text) === handle) return Buffer.from(text)
      break
    }
  }
  throw spillError('SPILL_UNKNOWN', { handle })
}

/** Logs of older versions do not tell it: there only what is still on the surface is found. */
function prunedAt(session: Session, handle: string): number | undefined {
  const known = session.state(compactionPrune)
  if (Object.hasOwn(known, handle)) return known[handle]
  const entry = session.surface.find(({ message: { content } }) => {
    const [part] = content
    return part?.type === 'tool-result' && handleIn(resultText(part.content)) === handle
  })
  return entry?.seq
}

const PIECE_BYTES = 2 ** 22
/** More than the longest variable that a process can have, with each of its bytes written as three. */
const OVERLAP_BYTES = 2 ** 19

/**
 * What a tool kept may hold secrets, of which a page could have one half: they are hidden before it
 * is cut. Most texts have none and are not copied, however large they are.
 */
function clean(bytes: Buffer, redact: (text: string) => string): Buffer {
  return isUtf8(bytes) && isClean(bytes, redact)
    ? bytes
    : Buffer.from(redact(bytes.toString('utf8')))
}

function isClean(bytes: Buffer, redact: (text: string) => string): boolean {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    const end = characterAt(bytes, at + PIECE_BYTES + OVERLAP_BYTES)
    const text = bytes.toString('utf8', characterAt(bytes, at), end)
    if (redact(text) !== text) return false
  }
  return true
}
