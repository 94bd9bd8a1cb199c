import { expect, it } from 'vitest'
import { addUsage, costOf, NO_USAGE } from '@cordage/core/message'

it('adds what is reported and leaves out what nobody reports', () => {
  const a = { inputTokens: 10, outputTokens: 1, cacheReadTokens: 4 }
  const b = { inputTokens: 5, outputTokens: 2, reasoningTokens: 1, estimated: true }
  expect(addUsage(a, b)).toEqual({
    inputTokens: 15,
    outputTokens: 3,
    cacheReadTokens: 4,
    reasoningTokens: 1,
    estimated: true,
  })
  expect(addUsage(NO_USAGE, a)).toEqual(a)
})

it('prices cached input as such, and as input where the route names no price for it', () => {
  const usage = { inputTokens: 1_000_000, outputTokens: 500_000, cacheReadTokens: 400_000 }
  expect(costOf(usage, { input: 2, output: 10, cacheRead: 0.5 })).toBeCloseTo(1.2 + 0.2 + 5)
  expect(costOf(usage, { input: 2, output: 10 })).toBeCloseTo(7)
  expect(costOf(usage, undefined)).toBeUndefined()
})

it('never counts below nothing when a provider reports more cached than input', () => {
  const usage = { inputTokens: 5, outputTokens: 0, cacheReadTokens: 9 }
  expect(costOf(usage, { input: 1, output: 1, cacheRead: 0 })).toBe(0)
})
