import { createHash } from 'node:crypto'

const bytes = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAKklEQVR42mN4ICBAU8QwasGoBaMWjFow' +
    'asGoBaMWjFowasGoBaMWDBULALgcAD3G45K4AAAAAElFTkSuQmCC',
  'base64',
)

/** A PNG of 32 by 32 red pixels. */
export const RED_SQUARE = {
  bytes: new Uint8Array(bytes),
  blob: {
    hash: createHash('sha256').update(bytes).digest('hex'),
    bytes: bytes.length,
    mediaType: 'image/png',
  },
}
