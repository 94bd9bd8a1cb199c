import { closeSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs'
import { join } from 'node:path'

const exportName = /\.(jsonl|md|html)$/
/** Where an export names its session: near its beginning, or in its last line. */
const partBytes = 64 * 1024

/** The exports of a session that were written into the home or its folder `exports`. */
export function exportsAtHome(home: string, id: string): string[] {
  return [home, join(home, 'exports')].flatMap(exportFiles).filter((path) => isExportOf(path, id))
}

function exportFiles(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile() && exportName.test(entry.name))
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
    if (path.endsWith('.jsonl')) return headerId(head) === id
    if (path.endsWith('.md')) return head.includes(`| Session | ${id} |`)
    const end = textAt(file, Math.max(0, size - partBytes))
    return end.includes(`Exported from the session ${id} of Cordage.`)
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
