import { isHarnessError } from '@cordage/core/error'
import type { PluginContext } from '@cordage/core/kernel'
import { toolResult, type Session } from '@cordage/core/session'
import { defineTool, handleOf, handleOfText, resultText, spillKept } from '@cordage/core/tool'
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

/**
 * The text that a handle names, as valid UTF-8. What a tool kept may hold secrets, of which a page
 * could have one half: they are hidden before it is cut.
 */
async function readWhole(
  ctx: PluginContext<'sessions'>,
  session: Session | undefined,
  handle: string,
): Promise<Buffer> {
  const kept = session?.state(spillKept) ?? {}
  const hash = Object.hasOwn(kept, handle) ? kept[handle] : undefined
  const text =
    session && hash ? await readBlob(session, handle, hash) : await readPruned(session, handle)
  return Buffer.from(ctx.get('credentials')?.redact(text) ?? text)
}

async function readBlob(session: Session, handle: string, hash: string): Promise<string> {
  try {
    return Buffer.from(await session.getBlob(hash)).toString('utf8')
  } catch (error) {
    if (!isHarnessError(error, 'BLOB_MISSING')) throw error
    throw spillError('SPILL_LOST', { handle }, { cause: error })
  }
}

/** A result that was pruned later stands whole in the log. */
async function readPruned(session: Session | undefined, handle: string): Promise<string> {
  if (session && handle !== '' && handle === handleOf(handle)) {
    for await (const fact of session.read(0)) {
      if (!toolResult.is(fact)) continue
      const text = resultText(fact.data.part.content)
      if (handleOfText(text) === handle) return text
    }
  }
  throw spillError('SPILL_UNKNOWN', { handle })
}
