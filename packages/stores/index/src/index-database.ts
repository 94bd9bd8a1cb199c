import type { Database, Statement } from 'better-sqlite3'
import { indexedWords } from '@cordage/core/search'
import type { Batch, Calls, Entry, Found, Known, Wanted } from './calls.ts'
import { fileId, isSpoiled, openIndex } from './index-file.ts'
import { removeIndex } from './index-remove.ts'
import { searchIndex } from './search.ts'

export { isSpoiled }

/** Entries that may share a millisecond; the time of a fact in this unit is the least of its id. */
const slots = 512
/** The year 2527: an id is a number that JSON and JavaScript can hold. */
const maxTime = 2 ** 44 - 1

/** How many times longer it takes to forget an entry by itself than to pass one when all is merged. */
const mergeGain = 100

interface SessionRow {
  readonly key: number
  readonly created: number
  readonly base: number
  readonly next: number
}

/** The file of the index. It only ever saves time: whatever is lost of it is read again. */
export class IndexDatabase {
  readonly #path: string
  #database: Database
  #kept: boolean
  #file: number
  #version = 0
  #changes = -1
  readonly #statements = new Map<string, Statement>()

  constructor(path: string) {
    this.#path = path
    const { database, kept } = openIndex(path)
    this.#database = database
    this.#kept = kept
    this.#file = fileId(path)
  }

  /** Looks whether others have written, and whether the file is still the one at its path. */
  known(version: number): Calls['known'][1] {
    if (this.#kept && fileId(this.#path) !== this.#file) this.#reopen()
    const changes = this.#database.pragma('data_version', { simple: true }) as number
    if (changes !== this.#changes) this.#version += 1
    this.#changes = changes
    const kept = this.#kept
    if (version === this.#version) return { version, known: undefined, kept }
    const columns = 'id, created AS createdAt, base, next, last, stamp'
    const known = this.#statement(`SELECT ${columns} FROM session`).all() as Known[]
    return { version: this.#version, known, kept }
  }

  /** Adds what is not there yet; whoever else indexes the session meanwhile, nothing is doubled. */
  put({ known, about, from, entries }: Batch): number {
    return this.#database
      .transaction(() => {
        const row = this.#row(known.id)
        const same = row && row.created === known.createdAt && row.base === known.base
        if (row && !same) this.#remove([row.key])
        const have = same ? row.next : known.base
        if (from > have) return have
        const key = this.#place(known, about, known.next >= have)
        for (const entry of entries) if (entry[0] >= have) this.#add(key, entry)
        return Math.max(have, known.next)
      })
      .immediate()
  }

  /** Leaves nothing of these sessions: where they cannot be taken out the file goes. */
  forget(ids: readonly string[]): void {
    try {
      const removed = this.#database
        .transaction(() => {
          const keys = ids.flatMap((id) => this.#row(id)?.key ?? [])
          if (keys.length > 0) this.#remove(keys)
          return keys.length
        })
        .immediate()
      // One that cannot be used here may still hold them.
      if (!this.#kept) removeIndex(this.#path)
      if (removed === 0) return
      const busy = this.#database.pragma('wal_checkpoint(TRUNCATE)', { simple: true })
      if (busy !== 0) this.clear()
    } catch {
      this.clear()
    }
  }

  search(wanted: Wanted): Found {
    return searchIndex((sql) => this.#statement(sql), wanted)
  }

  /** Begins again with nothing. */
  clear(): void {
    this.#database.close()
    removeIndex(this.#path)
    this.#open()
  }

  close(): void {
    this.#database.close()
  }

  #reopen(): void {
    this.#database.close()
    this.#open()
  }

  #open(): void {
    const { database, kept } = openIndex(this.#path)
    this.#database = database
    this.#kept = kept
    this.#file = fileId(this.#path)
    this.#version += 1
    this.#changes = -1
  }

  #row(id: string): SessionRow | undefined {
    const sql = 'SELECT key, created, base, next FROM session WHERE id = ?'
    return this.#statement(sql).get(id) as SessionRow | undefined
  }

  /** Gives the key of the session; with `goesOn` it is known as far as `known` says. */
  #place(known: Known, about: Batch['about'], goesOn: boolean): number {
    const { id, createdAt, base, next, last, stamp } = known
    const { project, title, parent, child, archived } = about
    const own = [project, title, parent, child ? 1 : 0, archived ? 1 : 0]
    this.#statement(
      `INSERT INTO session VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET (project, title, parent, child, archived) =
       (excluded.project, excluded.title, excluded.parent, excluded.child, excluded.archived)`,
    ).run(id, createdAt, base, next, last, stamp, ...own)
    if (goesOn) {
      const sql = 'UPDATE session SET (next, last, stamp) = (?, ?, ?) WHERE id = ?'
      this.#statement(sql).run(next, last, stamp, id)
    }
    return (this.#row(id) as SessionRow).key
  }

  #add(session: number, [seq, time, type, source, text]: Entry): void {
    const id = this.#freeId(time)
    const insert = 'INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?)'
    this.#statement(insert).run(id, session, seq, time, type, source, text)
    const { words, wholes } = indexedWords(text)
    this.#statement('INSERT INTO word (rowid, words, wholes) VALUES (?, ?, ?)').run(
      id,
      words,
      wholes,
    )
  }

  /** The next one of that time, or of the first one after it that is not full. */
  #freeId(time: number): number {
    const begin = Math.min(Math.max(0, Math.trunc(time) || 0), maxTime) * slots
    const newest = this.#statement('SELECT max(id) FROM entry WHERE id >= ? AND id < ?').pluck()
    for (let at = begin; ; at += slots) {
      const last = newest.get(at, at + slots) as number | null
      if (last === null) return at
      if (last + 1 < at + slots) return last + 1
    }
  }

  #remove(keys: readonly number[]): void {
    const total = this.#statement('SELECT count(*) FROM entry').pluck().get() as number
    for (const key of keys) {
      const select = 'SELECT id, text FROM entry WHERE session = ?'
      const gone = this.#statement(select).all(key) as { id: number; text: string }[]
      // Either way no word of it stays in the file: forgotten one by one, or by merging all others.
      const merges = gone.length * mergeGain > total
      const secure = `INSERT INTO word (word, rank) VALUES ('secure-delete', ${merges ? 0 : 1})`
      this.#statement(secure).run()
      for (const { id, text } of gone) {
        const { words, wholes } = indexedWords(text)
        this.#statement(
          `INSERT INTO word (word, rowid, words, wholes) VALUES ('delete', ?, ?, ?)`,
        ).run(id, words, wholes)
      }
      this.#statement('DELETE FROM entry WHERE session = ?').run(key)
      this.#statement('DELETE FROM session WHERE key = ?').run(key)
      if (merges) this.#statement(`INSERT INTO word (word) VALUES ('optimize')`).run()
    }
  }

  #statement(sql: string): Statement {
    const kept = this.#statements.get(sql)
    if (kept?.database === this.#database) return kept
    const statement = this.#database.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }
}
