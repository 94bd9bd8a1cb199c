import type { ImagePart } from '@cordage/core/message'
import type { ModelInfo, ModelRequest } from '@cordage/core/model'

/** The image as a data URL, or `undefined` for a model that reads none. */
export async function toDataURL(
  { blob }: ImagePart,
  request: ModelRequest,
  info: ModelInfo,
): Promise<string | undefined> {
  if (!info.input.includes('image')) return undefined
  const bytes = await request.getBlob(blob.hash)
  return `data:${blob.mediaType};base64,${Buffer.from(bytes).toString('base64')}`
}

/** What a model that reads no images is told instead. */
export function describeImage({ blob }: ImagePart): string {
  return `[image not shown: this model reads no images (${blob.mediaType}, ${blob.bytes} bytes)]`
}
