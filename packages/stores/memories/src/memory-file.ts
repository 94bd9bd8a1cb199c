import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { assert } from '@cordage/core/kernel'
import Sqlite, { type Database } from 'better-sqlite3'

const schema = 1
/** How long another process may write before this one gives up. */
const busyMs = 5_000

/** Opens the file, an empty one where there is none. Throws where it is spoiled. */
export function openMemories(path: string): Database {
  makeFile(path)
  const database = new Sqlite(path, { timeout: busyMs })
  try {
    // A journal that is gone after each commit: a log of pages, as WAL is, would hold what was
    // forgotten for as long as another process reads.
    database.pragma('journal_mode = DELETE')
    database.pragma('synchronous = FULL')
    database.pragma('secure_delete = ON')
    database.transaction(() => prepare(database)).immediate()
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** What tells the file from another one that has taken its place. */
export function fileId(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino
}

export function isSpoiled(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code)
}

/** Gives the file another name, which it returns, unless another process has done that before. */
export function setAside(path: string, id: number | undefined): string | undefined {
  if (id === undefined || fileId(path) !== id) return undefined
  const aside = `${path}.spoiled-${Date.now()}`
  renameSync(path, aside)
  // It belongs to the file, and would be played back into the next one.
  if (existsSync(`${path}-journal`)) renameSync(`${path}-journal`, `${aside}-journal`)
  return aside
}

/** What was set aside of the file so far. */
export function listAside(path: string): string[] {
  const name = `${basename(path)}.spoiled-`
  const names = readdirSync(dirname(path)).filter((one) => one.startsWith(name))
  return names.toSorted().map((one) => join(dirname(path), one))
}

function makeFile(path: string): void {
  try {
    mkdirSync(dirname(path))
  } catch {
    // It is there, or SQLite will say why it cannot be.
  }
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch {
    // The same.
  }
}

/** `project` is empty for what is remembered of a person; `word` has the words of `text`. */
function prepare(database: Database): void {
  const version = database.pragma('user_version', { simple: true }) as number
  assert(version <= schema, 'a newer version of this program has written it')
  if (version === schema) return
  database.exec(`
    CREATE TABLE memory (
      key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, project TEXT NOT NULL, text TEXT NOT NULL,
      basis TEXT NOT NULL, session TEXT NOT NULL, seq INTEGER NOT NULL, by TEXT NOT NULL,
      time INTEGER NOT NULL, expires INTEGER, superseded TEXT
    );
    CREATE INDEX memory_superseded ON memory (superseded);
    CREATE VIRTUAL TABLE word USING fts5 (words, wholes, tokenize = 'ascii');
    INSERT INTO word (word, rank) VALUES ('secure-delete', 1);
    PRAGMA user_version = ${schema};
  `)
}
