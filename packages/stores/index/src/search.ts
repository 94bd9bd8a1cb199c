import type { Statement } from 'better-sqlite3'
import { matchOf, termsOf } from '@cordage/core/search'
import type { EventHit, SessionMatch } from '@cordage/core/store'
import type { Found, Wanted } from './calls.ts'
import { snippetOf } from './snippet.ts'

type Prepare = (sql: string) => Statement

/** Of what is found more often, only the newest are ranked: a word that common tells nothing apart. */
const maxRanked = 2_000

interface Row extends Omit<EventHit, 'snippet'> {
  readonly text: string
  readonly events: number
}

export function searchIndex(prepare: Prepare, wanted: Wanted): Found {
  const terms = termsOf(wanted.text)
  const newest = wanted.newest ?? newestIn(prepare)
  const { sql, values } = conditionsOf(prepare, { ...wanted, newest })
  const ranked = `
    SELECT entry.id, entry.session, bm25(word) AS score
    FROM word JOIN entry ON entry.id = word.rowid JOIN session ON session.key = entry.session
    WHERE word MATCH ? ${sql} ORDER BY word.rowid DESC LIMIT ${maxRanked}`
  // The columns beside a minimum are those of its row.
  const chosen = wanted.bySession
    ? 'SELECT id, session, min(score) AS score, count(*) AS events FROM ranked GROUP BY session'
    : 'SELECT id, session, score, 1 AS events FROM ranked'
  const rows = prepare(`
    WITH ranked AS (${ranked}), chosen AS (${chosen})
    SELECT session.id AS session, project, title, seq, time, type, source, text, events
    FROM chosen JOIN entry ON entry.id = chosen.id JOIN session ON session.key = chosen.session
    ORDER BY score, chosen.id DESC LIMIT ? OFFSET ?`).all(
    matchOf(terms),
    ...values,
    wanted.limit + 1,
    wanted.offset,
  ) as Row[]
  const hits = rows.slice(0, wanted.limit).map(({ text, events, ...row }) => {
    const hit: EventHit = { ...row, snippet: snippetOf(text, terms) }
    return wanted.bySession ? ({ ...hit, events } satisfies SessionMatch) : hit
  })
  return { hits, more: rows.length > wanted.limit, newest }
}

function newestIn(prepare: Prepare): number {
  return (prepare('SELECT max(id) FROM entry').pluck().get() as number | null) ?? 0
}

interface Conditions {
  readonly sql: string
  readonly values: readonly (string | number)[]
}

function conditionsOf(prepare: Prepare, wanted: Wanted): Conditions {
  const { project, session, except, types, since, until, newest = 0 } = wanted
  const all: Conditions[] = [{ sql: 'word.rowid <= ?', values: [newest] }]
  const add = (sql: string, ...values: (string | number)[]) => void all.push({ sql, values })
  if (project !== undefined) add('project = ?', project)
  if (except !== undefined) add('session.id <> ?', except)
  if (since !== undefined) add('time >= ?', since)
  if (until !== undefined) add('time <= ?', until)
  if (types) add(`type IN (${types.map(() => '?').join()})`, ...types)
  if (session !== undefined) all.push(historyOf(prepare, session))
  else {
    if (wanted.children !== true) add('child = 0')
    if (wanted.archived !== true) add('archived = 0')
  }
  return {
    sql: all.map((one) => `AND ${one.sql}`).join(' '),
    values: all.flatMap((one) => one.values),
  }
}

/** A session, and of those it was forked from what was before. */
function historyOf(prepare: Prepare, session: string): Conditions {
  const find = prepare('SELECT key, base, parent FROM session WHERE id = ?')
  const parts: Conditions[] = []
  let before = Number.MAX_SAFE_INTEGER
  for (let id: string | undefined = session; id !== undefined;) {
    const row = find.get(id) as { key: number; base: number; parent: string } | undefined
    if (!row) break
    parts.push({ sql: '(entry.session = ? AND seq < ?)', values: [row.key, before] })
    before = Math.min(before, row.base)
    id = before > 0 ? row.parent : undefined
  }
  if (parts.length === 0) return { sql: 'FALSE', values: [] }
  return {
    sql: `(${parts.map(({ sql }) => sql).join(' OR ')})`,
    values: parts.flatMap(({ values }) => values),
  }
}
