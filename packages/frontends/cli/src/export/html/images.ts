import type { BlobRef } from '@cordage/core/message'
import { countText } from '../../usage/spend.ts'
import { escaped } from './escape.ts'

/** What a browser shows as a picture and nothing else. Not SVG, which is a document. */
const pictures = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

/** The pictures of one page: the bytes of each are in it once. */
export class Images {
  readonly #bytesOf: (hash: string) => Promise<Uint8Array | undefined>
  readonly #shown = new Set<string>()

  constructor(bytesOf: (hash: string) => Promise<Uint8Array | undefined>) {
    this.#bytesOf = bytesOf
  }

  async html({ hash, bytes, mediaType }: BlobRef): Promise<string> {
    const what = `${mediaType}, ${countText(bytes)} bytes`
    if (!pictures.has(mediaType)) return note(`A file: ${what}`)
    if (this.#shown.has(hash)) {
      return `<p class="note"><a href="#image-${escaped(hash)}">The image from above</a></p>\n`
    }
    const found = await this.#bytesOf(hash)
    if (!found) return note(`An image that is not there any more: ${what}`)
    this.#shown.add(hash)
    const data = Buffer.from(found).toString('base64')
    const alt = escaped(`Image, ${what}`)
    return `<img id="image-${escaped(hash)}" alt="${alt}" decoding="async" src="data:${mediaType};base64,${data}">\n`
  }
}

function note(text: string): string {
  return `<p class="note">${escaped(text)}</p>\n`
}
