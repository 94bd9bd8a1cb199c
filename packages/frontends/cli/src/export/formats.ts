import type { ExportedSession } from './exported-session.ts'

export const exportFormats = ['jsonl', 'markdown', 'html'] as const
export type ExportFormat = (typeof exportFormats)[number]

const extensions: Readonly<Record<string, ExportFormat>> = {
  jsonl: 'jsonl',
  md: 'markdown',
  markdown: 'markdown',
  html: 'html',
  htm: 'html',
}

/** What the name of a file asks for. */
export function formatOf(path: string): ExportFormat | undefined {
  return extensions[/\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? '']
}

/** The session as text, a piece at a time. Only what is asked for is loaded. */
export async function* textOf(
  session: ExportedSession,
  format: ExportFormat,
): AsyncGenerator<string> {
  if (format === 'html') yield* (await import('./html/page.ts')).htmlOf(session)
  else if (format === 'markdown') yield* (await import('./markdown.ts')).markdownOf(session)
  else yield* (await import('./jsonl.ts')).jsonlOf(session)
}
