import { z } from 'zod'

export const loopConfig = z.strictObject({
  maxParallelToolCalls: z
    .number()
    .int()
    .min(1)
    .default(10)
    .describe('Tool calls of one answer that may run at the same time; 1 is serial.'),
  cancelGraceMs: z
    .number()
    .int()
    .min(0)
    .default(5_000)
    .describe('How long whatever was cancelled may take to stop before it is left behind.'),
  streamIdleTimeoutMs: z
    .number()
    .int()
    .min(1)
    .default(300_000)
    .describe('A stream that brings nothing for this long has failed with TIMEOUT.'),
  streamTotalTimeoutMs: z
    .number()
    .int()
    .min(1)
    .default(3_600_000)
    .describe('A stream that is not over by then has failed with TIMEOUT, whatever it brings.'),
  maxCutAnswers: z
    .number()
    .int()
    .min(1)
    .default(3)
    .describe('So many answers in a row that reach the output limit end the turn.'),
  maxContinuations: z
    .number()
    .int()
    .min(0)
    .default(3)
    .describe('How often a turn goes on because a hook asked for more.'),
})

export type LoopConfig = z.infer<typeof loopConfig>
