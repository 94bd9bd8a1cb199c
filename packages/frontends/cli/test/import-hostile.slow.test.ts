import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { LeftBehind } from '../src/import/left-behind.ts'
import { entriesOf } from '../src/import/source.ts'
import { disturbed, placesIn, sources, unreadable } from './disturbed.ts'
import { linesText, openBench } from './import-fixture.ts'

async function count(entries: AsyncIterable<unknown>): Promise<number> {
  let number = 0
  for await (const _ of entries) number += 1
  return number
}

describe('a transcript', () => {
  it('is read whichever member of a line is no text', { timeout: 300_000 }, async () => {
    await using bench = await openBench()
    const path = join(bench.folder, 'a.jsonl')
    let read = 0
    for (const { from, lines } of sources) {
      for (const [at, line] of lines.entries()) {
        const record: unknown = JSON.parse(line)
        for (const place of placesIn(record)) {
          const value = unreadable[read % unreadable.length]
          const changed = JSON.stringify(disturbed(record, place, value))
          writeFileSync(path, linesText(lines.with(at, changed)))
          const entries = entriesOf({ from, path, agents: [] }, new LeftBehind())
          expect(await count(entries)).toBeGreaterThanOrEqual(0)
          read += 1
        }
      }
    }
    expect(read).toBeGreaterThan(500)
  })
})
