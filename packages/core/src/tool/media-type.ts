export type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'

/** What the first bytes of a file say it is; names may be wrong. */
export function detectMedia(bytes: Uint8Array): ImageType | 'application/pdf' | undefined {
  const head = Buffer.from(bytes.subarray(0, 16)).toString('latin1')
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (head.startsWith('GIF87a') || head.startsWith('GIF89a')) return 'image/gif'
  if (head.startsWith('RIFF') && head.slice(8, 12) === 'WEBP') return 'image/webp'
  return head.startsWith('%PDF-') ? 'application/pdf' : undefined
}
