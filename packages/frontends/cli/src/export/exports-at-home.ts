import { closeSync, existsSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { nameOfDraft } from './drafts.ts'
import { sourceTag } from './html/source-tag.ts'

const exportName = /\.(jsonl|md|html)$/
/** Where an export names its session: near its beginning, or in its last line. */
const partBytes = 64 * 1024

/**
 * The exports of a session that were written into the home or its folder `exports`, whole or not,
 * and those files there of which that cannot be told.
 */
export function exportsAtHome(home: string, id: string) {
  const [found, unreadable]: [string[], string[]] = [[], []]
  for (const path of [home, join(home, 'exports')].flatMap(exportFiles)) {
    try {
      if (isExportOf(path, id)) found.push(path)
    } catch {
      // It is another user's, or was removed just now.
      if (existsSync(path)) unreadable.push(path)
    }
  }
  return { found, unreadable }
}

function exportFiles(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile() && exportName.test(nameOfDraft(entry.name)))
      .map(({ name }) => join(folder, name))
  } catch {
    // Nobody has made that folder.
    return []
  }
}

function isExportOf(path: string, id: string): boolean {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    const head = textAt(file, 0)
    const name = nameOfDraft(path)
    if (name.endsWith('.jsonl')) return headerId(head) === id
    if (name.endsWith('.md')) return /^\| Session \| (\S+) \|/m.exec(head)?.[1] === id
    // What is cut off has no end; words that were said are never a tag.
    const end = textAt(file, Math.max(0, size - partBytes))
    return head.includes(sourceTag(id)) || end.includes(`<footer>Exported from the session ${id} `)
  } finally {
    closeSync(file)
  }
}

function textAt(file: number, position: number): string {
  const bytes = Buffer.alloc(partBytes)
  return bytes.toString('utf8', 0, readSync(file, bytes, 0, partBytes, position))
}

function headerId(head: string): string | undefined {
  try {
    const [line = ''] = head.split('\n', 1)
    const { cordage, header } = JSON.parse(line) as { cordage?: unknown; header?: { id?: string } }
    return cordage === 'session' ? header?.id : undefined
  } catch {
    // Some other file.
    return undefined
  }
}
