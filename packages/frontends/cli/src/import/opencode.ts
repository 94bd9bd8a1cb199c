import { readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Entry } from './entry.ts'
import { DAMAGED, type LeftBehind } from './left-behind.ts'
import { parsed } from './lines.ts'
import { isRecord, listIn, recordIn, textIn, type Loose } from './loose.ts'
import { messageEntries } from './opencode-message.ts'

/** An export is one JSON value, so that it is held whole. */
const MAX_EXPORT_BYTES = 512 * 1024 * 1024

/** Whether a value is what `opencode export` prints (0.10 to 1.1). */
export function isOpencodeExport(value: Loose): boolean {
  return isRecord(value['info']) && Array.isArray(value['messages'])
}

/** Whether a value is the record of a session in opencode's `storage/session`. */
export function isOpencodeSession(value: Loose): boolean {
  return textIn(value['id'])?.startsWith('ses') === true && isRecord(value['time'])
}

/** `storage/session/<project>/<id>.json`, with messages and parts in folders beside; or an export. */
export async function* readOpencode(path: string, left: LeftBehind): AsyncGenerator<Entry> {
  const value = recordIn(parsed(await wholeText(path)))
  const isExport = isOpencodeExport(value)
  const info = isExport ? recordIn(value['info']) : value
  const session = textIn(info['id'])
  yield { kind: 'about', session, cwd: textIn(info['directory']) }
  if (isExport) {
    for (const message of listIn(value['messages'])) {
      const { info: about, parts } = recordIn(message)
      yield* messageEntries(recordIn(about), listIn(parts).map(recordIn), left)
    }
  } else yield* storedEntries(dirname(dirname(dirname(path))), session ?? '', left)
  const title = textIn(info['title'])
  // Until it has one it is called by its time.
  if (title !== undefined && !/^(?:New|Child) session - /.test(title)) {
    yield { kind: 'title', title, by: 'model', time: undefined }
  }
  for (const member of ['revert', 'share', 'summary']) {
    if (member in info) left.add(`the session's ${member}`, JSON.stringify(info[member]))
  }
}

/** All files that hold a session of a storage, in one order. */
export async function opencodeFiles(path: string): Promise<string[]> {
  const info = recordIn(parsed(await wholeText(path)))
  if (isOpencodeExport(info)) return [path]
  const storage = dirname(dirname(dirname(path)))
  const messages = await jsonFiles(join(storage, 'message', textIn(info['id']) ?? ''))
  const files = [path]
  for (const file of messages) {
    files.push(file)
    files.push(...(await jsonFiles(join(storage, 'part', nameOf(file)))))
  }
  return files
}

async function* storedEntries(
  storage: string,
  session: string,
  left: LeftBehind,
): AsyncGenerator<Entry> {
  for (const file of await jsonFiles(join(storage, 'message', session))) {
    const message = await recordOf(file, left)
    if (!message) continue
    const parts: Loose[] = []
    for (const part of await jsonFiles(join(storage, 'part', nameOf(file)))) {
      const record = await recordOf(part, left)
      if (record) parts.push(record)
    }
    yield* messageEntries(message, parts, left)
  }
}

/** Ids count up, so that the order of names is that of time. */
async function jsonFiles(folder: string): Promise<string[]> {
  try {
    const names = await readdir(folder)
    return names
      .filter((name) => name.endsWith('.json'))
      .sort()
      .map((name) => join(folder, name))
  } catch {
    // A message without parts has no folder.
    return []
  }
}

async function recordOf(file: string, left: LeftBehind): Promise<Loose | undefined> {
  const value = parsed(await readFile(file, 'utf8').catch(String))
  if (isRecord(value)) return value
  left.add(DAMAGED, `${nameOf(file)}.json`)
  return undefined
}

async function wholeText(path: string): Promise<string> {
  return (await stat(path)).size > MAX_EXPORT_BYTES ? '' : readFile(path, 'utf8')
}

function nameOf(file: string): string {
  return file.replace(/^.*\//, '').replace(/\.json$/, '')
}
