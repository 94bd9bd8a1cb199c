import { expect, it } from 'vitest'
import { imageTokens } from '../src/image-tokens.ts'

it.each([
  [1_024, 1_024, 765],
  [2_048, 4_096, 1_105],
  [512, 512, 255],
  [1, 1, 255],
  [100_000, 10, 765],
])('an image of %d x %d pixels takes what the server says', (width, height, tokens) => {
  expect(imageTokens({ width, height })).toBe(tokens)
})
