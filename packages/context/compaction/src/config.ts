import { z } from 'zod'

const share = z.number().gt(0).lt(1)
const count = z.number().int().min(1)

export const compactionConfig = z.strictObject({
  trigger: z
    .enum(['window', 'messages'])
    .default('window')
    .describe('By what the next request takes of the window, or by the last usage.'),
  headroomTokens: z
    .number()
    .int()
    .min(0)
    .default(65_536)
    .describe('Kept free besides the room for an answer, where the window allows it.'),
  minHeadroomTokens: z
    .number()
    .int()
    .min(0)
    .default(2_048)
    .describe('What the headroom shrinks to on models whose window is too small for it.'),
  maxShare: share.default(0.8).describe('Of the window, at which it is time at the latest.'),
  keepShare: share.default(0.16).describe('Of window less answer, kept word for word at the end.'),
  totalTokenThreshold: count.default(64_000).describe('Form `messages`: prompt tokens.'),
  keepRecentMessageCount: count.default(10).describe('Form `messages`: kept word for word.'),
  minMessagesToSummarize: count.default(3).describe('Fewer are not worth a call.'),
  summaryPrompt: z
    .string()
    .min(1)
    .optional()
    .describe('Asks for the snapshot, instead of the one that ships.'),
  summary: z
    .strictObject({
      maxTokens: count.default(8_192),
      temperature: z.number().optional(),
      effort: z.string().optional(),
    })
    .prefault({})
    .describe('How the model of role `summary` is asked; nothing of the main model applies.'),
  summaryTimeoutMs: count.default(180_000).describe('Milliseconds of one call.'),
  summaryRetries: z.number().int().min(0).default(1).describe('Extra calls after a bad one.'),
  retryDelayMs: z.number().int().min(0).default(1_000).describe('Doubled for each further call.'),
  failuresBeforePause: count
    .default(3)
    .describe('In a row, after which no model is asked until the pause is over.'),
  pauseMs: count.default(300_000).describe('Milliseconds.'),
  maxPinnedTokens: count
    .default(8_000)
    .describe('Of facts that are carried over word for word; the least important go first.'),
})

export type CompactionConfig = z.output<typeof compactionConfig>
