import { z } from 'zod'
import { defineEvent, type Session } from '../session/index.ts'
import { handleOf } from './handle.ts'

/** Handle to the hash of the blob. */
export type KeptTexts = Readonly<Record<string, string>>

/**
 * A text that the model was not shown whole is kept: what a handle may be read for. The row that
 * reads handles makes this kind of fact known.
 */
export const spillKept = defineEvent({
  type: 'spill/kept',
  schema: z.object({
    handle: z.string(),
    /** SHA-256 (hex) of a blob of the session. */
    hash: z.string(),
    bytes: z.number().int(),
  }),
  initial: Object.freeze({}) as KeptTexts,
  reduce: (kept, { data: { handle, hash } }): KeptTexts => ({ ...kept, [handle]: hash }),
})

/**
 * Keeps the bytes of a text as a blob that its handle names; gives the hash. `undefined` where the
 * store cannot take it: a model does better with the ends of a text than with nothing.
 */
export async function keepText(session: Session, bytes: Uint8Array): Promise<string | undefined> {
  try {
    const hash = await session.putBlob(bytes)
    await nameKept(session, hash, bytes.length)
    return hash
  } catch {
    return undefined
  }
}

/** Once for each handle, so that a log does not grow with what is said twice. */
export async function nameKept(session: Session, hash: string, bytes: number): Promise<void> {
  const handle = handleOf(hash)
  if (session.state(spillKept)[handle] === hash) return
  await session.append([spillKept({ handle, hash, bytes })], { later: true })
}
