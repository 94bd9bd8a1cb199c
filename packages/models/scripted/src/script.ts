import { modelErrors } from '@cordage/core/model'
import { z } from 'zod'

const condition = z
  .strictObject({
    lastUserContains: z.string().describe('Holds when the last message of a person contains this.'),
    lastToolName: z.string().describe('Holds when the last tool result comes from this tool.'),
    lastToolContains: z.string(),
    lastToolLacks: z.string(),
    toolFailed: z.boolean().describe('Whether the last tool result is an error.'),
  })
  .partial()

const call = z.strictObject({ name: z.string(), arguments: z.record(z.string(), z.unknown()) })

const usage = z.strictObject({
  inputTokens: z.number().int().nonnegative(),
  outputTokens: z.number().int().nonnegative(),
  cacheReadTokens: z.number().int().nonnegative().optional(),
})

const codes = Object.keys(modelErrors) as (keyof typeof modelErrors)[]

const step = z.strictObject({
  when: condition
    .optional()
    .describe(
      'Makes the step a detour: it stands before the next step without a condition, answers in ' +
        'its place while every part of the condition holds, and does not count as a step.',
    ),
  times: z
    .number()
    .int()
    .positive()
    .default(3)
    .describe('How often a detour is taken, so that none goes round for ever.'),
  reasoning: z.string().optional(),
  text: z.string().optional(),
  calls: z.array(call).default([]),
  usage: usage.optional(),
  finish: z.string().optional(),
  delayMs: z.number().nonnegative().default(0).describe('Before each piece of the text.'),
  fail: z.enum(codes).optional().describe('Fails with this code instead of answering.'),
  failures: z
    .number()
    .int()
    .positive()
    .optional()
    .describe('How many attempts fail before the step answers; without it all do.'),
})

/** One recorded run. */
export const script = z.strictObject({
  description: z.string().optional(),
  steps: z.array(step).min(1),
})

export type Script = z.output<typeof script>
export type ScriptInput = z.input<typeof script>
export type Step = z.output<typeof step>
export type Condition = z.output<typeof condition>
