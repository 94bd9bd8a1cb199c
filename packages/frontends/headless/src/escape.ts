import { escapeControls } from '@cordage/core/error'

/** What a tool or a model wrote must not drive the person's terminal; lines and tabs stay. */
export function escape(text: string): string {
  return text.replaceAll(/[^\n\t]+/g, escapeControls)
}
