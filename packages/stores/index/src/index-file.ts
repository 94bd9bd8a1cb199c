import { closeSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import Sqlite, { type Database } from 'better-sqlite3'
import { removeIndex } from './index-remove.ts'

/** Counts up with the tables and with what becomes of a text: an older index is made anew. */
const schema = 1
/** How long another process may write before this one gives up. */
const busyMs = 5_000

/** Opens the index, an empty one where it is missing, spoiled or of another version. */
export function openIndex(path: string): { database: Database; kept: boolean } {
  if (path === ':memory:') return { database: prepare(new Sqlite(path)), kept: false }
  for (const retry of [true, false]) {
    try {
      return { database: prepare(openFile(path)), kept: true }
    } catch (error) {
      if (!isSpoiled(error) || !retry) break
      removeIndex(path)
    }
  }
  // Where it cannot be kept, as on a disk that is read-only, it is there for this process.
  return { database: prepare(new Sqlite(':memory:')), kept: false }
}

/** What tells the file from another one that has taken its place. */
export function fileId(path: string): number {
  return path === ':memory:' ? 0 : (statSync(path, { throwIfNoEntry: false })?.ino ?? -1)
}

export function isSpoiled(error: unknown): boolean {
  const code = error instanceof Sqlite.SqliteError ? error.code : ''
  return /^SQLITE_(CORRUPT|NOTADB|ERROR|MISMATCH|CONSTRAINT)/.test(code)
}

/** Closes what cannot be used. */
function prepare(database: Database): Database {
  try {
    database.pragma('journal_mode = WAL')
    database.pragma('synchronous = NORMAL')
    database.pragma('secure_delete = ON')
    database
      .transaction(() => {
        if (database.pragma('user_version', { simple: true }) !== schema) makeTables(database)
      })
      .immediate()
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/**
 * `entry.id` grows with the time of a fact, so that the newest are found first. `word` holds no
 * text, and forgets what it is told to with the words that `entry` has.
 */
function makeTables(database: Database): void {
  database.exec(`
    DROP TABLE IF EXISTS session;
    DROP TABLE IF EXISTS entry;
    DROP TABLE IF EXISTS word;
    CREATE TABLE session (
      key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, created INTEGER NOT NULL,
      base INTEGER NOT NULL, next INTEGER NOT NULL, last TEXT NOT NULL, stamp TEXT NOT NULL,
      project TEXT NOT NULL, title TEXT NOT NULL, parent TEXT NOT NULL,
      child INTEGER NOT NULL, archived INTEGER NOT NULL
    );
    CREATE TABLE entry (
      id INTEGER PRIMARY KEY, session INTEGER NOT NULL, seq INTEGER NOT NULL,
      time INTEGER NOT NULL, type TEXT NOT NULL, source TEXT NOT NULL, text TEXT NOT NULL
    );
    CREATE UNIQUE INDEX entry_place ON entry (session, seq);
    CREATE VIRTUAL TABLE word USING fts5 (words, wholes, content = '', tokenize = 'ascii');
    PRAGMA user_version = ${schema};
  `)
}

function openFile(path: string): Database {
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
  return new Sqlite(path, { timeout: busyMs })
}
