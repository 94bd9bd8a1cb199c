import type { ImageSize } from '@cordage/core/message'

/** https://platform.openai.com/docs/guides/images-vision: of high detail, in tiles. */
const MAX_EDGE = 2_048
const SHORT_EDGE = 768
const TILE = 512
const BASE_TOKENS = 85
const TILE_TOKENS = 170

export function imageTokens({ width, height }: ImageSize): number {
  const fit = Math.min(1, MAX_EDGE / Math.max(width, height))
  const scale = fit * Math.min(1, SHORT_EDGE / (fit * Math.min(width, height)))
  const tiles = Math.ceil((width * scale) / TILE) * Math.ceil((height * scale) / TILE)
  return BASE_TOKENS + TILE_TOKENS * tiles
}
