import { defineEvent } from '@cordage/core/session'
import { z } from 'zod'

/** Handle to the hash of the blob. */
export type Spilled = Readonly<Record<string, string>>

/** A text that the model was not shown whole is kept: what a handle may be read for. */
export const spillKept = defineEvent({
  type: 'spill/kept',
  schema: z.object({
    handle: z.string(),
    /** SHA-256 (hex) of a blob of the session. */
    hash: z.string(),
    bytes: z.number().int(),
  }),
  initial: Object.freeze({}) as Spilled,
  reduce: (kept, { data: { handle, hash } }): Spilled => ({ ...kept, [handle]: hash }),
})
