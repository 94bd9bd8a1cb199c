import type { ImageSize } from '@cordage/core/message'

/** https://docs.claude.com/en/docs/build-with-claude/vision: larger ones are made smaller first. */
const MAX_EDGE = 1_568
const PIXELS_PER_TOKEN = 750
const MAX_TOKENS = 1_600

export function imageTokens({ width, height }: ImageSize): number {
  const scale = Math.min(1, MAX_EDGE / Math.max(width, height))
  return Math.min(MAX_TOKENS, Math.ceil((width * height * scale ** 2) / PIXELS_PER_TOKEN))
}
