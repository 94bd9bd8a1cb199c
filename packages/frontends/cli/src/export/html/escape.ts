import { visibleText } from '../visible-text.ts'

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Any text, for a place between tags or in a quoted attribute. */
export function escaped(text: string): string {
  return visibleText(text).replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
}
