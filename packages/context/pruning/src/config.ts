import { z } from 'zod'

/** Room for the note between the two ends. */
const NOTE_CHARS = 256

const chars = (value: number, what: string) => z.number().int().min(0).default(value).describe(what)
const share = (value: number, what: string) =>
  z.number().min(0).max(1).default(value).describe(what)

export const pruningConfig = z
  .strictObject({
    thresholdChars: chars(8_192, 'Results of more characters are cut.'),
    headChars: chars(4_096, 'Kept of their start.'),
    tailChars: chars(1_024, 'Kept of their end.'),
    minWindowShare: share(0.4, 'Nothing is cut while a request takes less of the room for input.'),
    targetShare: share(0.3, 'Then as many are, oldest first, as bring it down to this.'),
    keepRecentMessages: chars(10, 'Results among so many last messages stay as they are.'),
  })
  .refine((made) => made.headChars + made.tailChars + NOTE_CHARS <= made.thresholdChars, {
    error: `headChars and tailChars leave no ${NOTE_CHARS} characters for the note`,
    path: ['thresholdChars'],
  })

export type PruningConfig = z.output<typeof pruningConfig>
