import { expect, it } from 'vitest'
import { imageTokens } from '../src/image-tokens.ts'

it.each([
  [200, 200, 54],
  [1_000, 1_000, 1_334],
  [1_092, 1_092, 1_590],
  [3_000, 3_000, 1_600],
  [4_000, 400, 328],
])('an image of %d x %d pixels takes what the server says', (width, height, tokens) => {
  expect(imageTokens({ width, height })).toBe(tokens)
})
