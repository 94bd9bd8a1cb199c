import { modelErrors } from '@cordage/core/model'
import { z } from 'zod'

const condition = z
  .strictObject({
    /** Holds when the last message of a person contains this. */
    lastUserContains: z.string(),
    /** Holds when the last tool result comes from this tool. */
    lastToolName: z.string(),
    lastToolContains: z.string(),
    lastToolLacks: z.string(),
    /** Whether the last tool result is an error. */
    toolFailed: z.boolean(),
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
  /**
   * Makes the step a detour: it stands before the next step without a condition, answers in its
   * place while every part of the condition holds, and does not count as a step.
   */
  when: condition.optional(),
  /** How often a detour is taken, so that none goes round for ever. */
  times: z.number().int().positive().default(3),
  reasoning: z.string().optional(),
  text: z.string().optional(),
  calls: z.array(call).default([]),
  usage: usage.optional(),
  finish: z.string().optional(),
  /** Before each piece of the text. */
  delayMs: z.number().nonnegative().default(0),
  /** Fails with this code instead of answering. */
  fail: z.enum(codes).optional(),
  /** How many attempts fail before the step answers; without it all do. */
  failures: z.number().int().positive().optional(),
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
