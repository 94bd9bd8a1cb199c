import { escaped } from './escape.ts'

/** How a page says near its beginning which session it was made of. */
export function sourceTag(id: string): string {
  return `<meta name="cordage-session" content="${escaped(id)}">`
}
