import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'

const sources = resolve(import.meta.dirname, '../src')

/** The modules that come with one: those that it names, but for their types alone, and theirs. */
function reachedFrom(name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found
  found.add(name)
  const text = readFileSync(join(sources, name), 'utf8')
  for (const [statement, from = ''] of text.matchAll(/^import [^']*'\.\/([\w-]+\.ts)'/gm)) {
    if (!statement.startsWith('import type')) reachedFrom(from, found)
  }
  return found
}

it('the database is reached by its thread alone', () => {
  const uses = (name: string) =>
    readFileSync(join(sources, name), 'utf8').includes('better-sqlite3')
  // What the first call loads runs in the main thread as well.
  const main = new Set([...reachedFrom('index.ts'), ...reachedFrom('session-query.ts')])
  expect(main).toContain('catch-up.ts')
  expect([...main].filter(uses)).toEqual([])
  expect([...reachedFrom('index-worker.ts')].filter(uses)).toContain('index-database.ts')
})
