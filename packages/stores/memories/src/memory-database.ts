import { newId } from '@cordage/core/message'
import { indexedWords, matchOf, termsOf } from '@cordage/core/search'
import type { ForgottenMemory, MemoryItem, MemoryQuery, NewMemory } from '@cordage/core/store'
import type { Database } from 'better-sqlite3'
import { fileId, listAside, openMemories } from './memory-file.ts'

interface Row {
  readonly key: number
  readonly id: string
  readonly project: string
  readonly text: string
  readonly basis: NewMemory['basis']
  readonly session: string
  readonly seq: number
  readonly by: string
  readonly time: number
  readonly expires: number | null
  readonly superseded: string | null
}

/** The file of the memories. `project` is always the directory of who asks. */
export class MemoryDatabase {
  readonly #path: string
  readonly #database: Database
  readonly #file: number | undefined

  constructor(path: string) {
    this.#path = path
    this.#database = openMemories(path)
    this.#file = fileId(path)
  }

  /** Whether the file is still the one at its path. */
  get isCurrent(): boolean {
    return fileId(this.#path) === this.#file
  }

  add(project: string, memory: NewMemory): MemoryItem | undefined {
    return this.#database.transaction(() => this.#add(project, memory)).immediate()
  }

  search(project: string, query: MemoryQuery): MemoryItem[] {
    const terms = termsOf(query.text)
    if (terms.length === 0) return []
    const all = this.#match(project, query, matchOf(terms))
    return all.length > 0 ? all : this.#match(project, query, matchOf(terms, 'OR'))
  }

  list(project: string): MemoryItem[] {
    const select = `SELECT * FROM memory WHERE project IN ('', ?) AND superseded IS NULL`
    const rows = this.#database.prepare(`${select} ORDER BY key DESC`).all(project) as Row[]
    return rows.map(itemOf)
  }

  forget(project: string, id: string): ForgottenMemory | undefined {
    const rows = this.#database.transaction(() => this.#remove(project, id)).immediate()
    if (rows.length === 0) return undefined
    const kept = this.#sayingSame(rows)
    const same = kept.filter((row) => row.project === '' || row.project === project)
    return {
      items: rows.map(itemOf),
      same: same.map((row) => row.id),
      sameElsewhere: kept.length - same.length,
      aside: listAside(this.#path),
    }
  }

  close(): void {
    this.#database.close()
  }

  #add(project: string, memory: NewMemory): MemoryItem | undefined {
    const { text, scope, basis, source, expires, replaces } = memory
    const place = scope === 'user' ? '' : project
    const find = `SELECT id FROM memory WHERE project = ? AND superseded IS NULL`
    const same = this.#database.prepare(`${find} AND text = ?`).pluck().all(place, text)
    const old = this.#database
      .prepare(`${find} AND id = ?`)
      .pluck()
      .get(place, replaces ?? '')
    if (replaces !== undefined && old === undefined) return undefined
    // Enough of it that no two are alike, and little for a model to repeat.
    const id = newId().slice(-8).toLowerCase()
    const row = {
      id,
      project: place,
      text,
      basis,
      ...source,
      time: Date.now(),
      expires: expires ?? null,
      superseded: null,
    }
    const { lastInsertRowid: key } = this.#database
      .prepare(
        `INSERT INTO memory VALUES
         (NULL, @id, @project, @text, @basis, @session, @seq, @by, @time, @expires, @superseded)`,
      )
      .run(row)
    const { words, wholes } = indexedWords(text)
    this.#database
      .prepare('INSERT INTO word (rowid, words, wholes) VALUES (?, ?, ?)')
      .run(key, words, wholes)
    const supersede = this.#database.prepare('UPDATE memory SET superseded = ? WHERE id = ?')
    for (const gone of new Set([...same, ...(old === undefined ? [] : [old])])) {
      supersede.run(id, gone)
    }
    return itemOf({ ...row, key: Number(key) })
  }

  #match(project: string, { scope, superseded, limit }: MemoryQuery, match: string): MemoryItem[] {
    const places = { user: [''], project: [project], both: ['', project] }[scope ?? 'both']
    const rows = this.#database
      .prepare(
        `SELECT memory.* FROM word JOIN memory ON memory.key = word.rowid
         WHERE word MATCH ? AND project IN (${places.map(() => '?').join()})
         AND (expires IS NULL OR expires > ?) ${superseded ? '' : 'AND superseded IS NULL'}
         ORDER BY superseded IS NOT NULL, bm25(word), key DESC LIMIT ?`,
      )
      .all(match, ...places, Date.now(), limit) as Row[]
    return rows.map(itemOf)
  }

  #remove(project: string, id: string): Row[] {
    const rows = this.#database
      .prepare(
        `WITH RECURSIVE gone AS (
           SELECT * FROM memory WHERE id = ? AND project IN ('', ?)
           UNION SELECT memory.* FROM memory JOIN gone ON memory.superseded = gone.id
         ) SELECT * FROM gone ORDER BY key DESC`,
      )
      .all(id, project) as Row[]
    for (const { key } of rows) {
      this.#database.prepare('DELETE FROM word WHERE rowid = ?').run(key)
      this.#database.prepare('DELETE FROM memory WHERE key = ?').run(key)
    }
    return rows
  }

  /** One pass over the table, however many were removed. */
  #sayingSame(rows: readonly Row[]): Row[] {
    const find = 'SELECT * FROM memory WHERE text IN (SELECT value FROM json_each(?))'
    const texts = JSON.stringify(rows.map((row) => row.text))
    return this.#database.prepare(find).all(texts) as Row[]
  }
}

function itemOf(row: Row): MemoryItem {
  const { id, project, text, basis, session, seq, by, time, expires, superseded } = row
  return {
    id,
    text,
    scope: project === '' ? 'user' : 'project',
    ...(project === '' ? {} : { project }),
    basis,
    source: { session, seq, by },
    time,
    ...(expires === null ? {} : { expires }),
    ...(superseded === null ? {} : { supersededBy: superseded }),
  }
}
