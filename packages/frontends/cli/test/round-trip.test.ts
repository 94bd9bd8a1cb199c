import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Fact, SessionHeader } from '@cordage/core/session'
import { SessionFold } from '@cordage/core/session'
import { describe, expect, it } from 'vitest'
import {
  answered,
  called,
  exported,
  keep,
  PNG,
  PNG_HASH,
  returned,
  said,
  text,
  wholeTurn,
} from './export-fixture.ts'
import { linesText, openBench, unpaired, type Bench } from './import-fixture.ts'

const HOSTILE = 'a \uD800 \0 \u2028 </script> \u001B[31m "\\'

/** A session with everything, as the lines of its export and as facts. */
async function original() {
  await using bench = await openBench()
  await keep(bench.store, wholeTurn(HOSTILE), { preset: 'reviewer' })
  const { text: lines } = await exported(bench.store, 'jsonl')
  return { lines: lines.trimEnd().split('\n'), facts: await bench.facts('main') }
}

async function headerOf(bench: Bench, id: string): Promise<SessionHeader | undefined> {
  const all = await bench.store.list({ idPrefix: id, children: true })
  return all.find(({ header }) => header.id === id)?.header
}

/** The facts of an import of damaged lines, which has to hold together all the same. */
async function mended(bench: Bench, id: string | undefined): Promise<readonly Fact[]> {
  const facts = await bench.facts(id ?? '')
  const fold = new SessionFold()
  for (const fact of facts) fold.add(fact)
  expect(fold.turn).toMatchObject({ open: false, unanswered: [] })
  expect(unpaired(fold)).toEqual([])
  return facts
}

describe('an export that is imported', () => {
  it('is the session again: the same header, facts, times and blobs, and so is its export', async () => {
    const { lines, facts } = await original()
    await using bench = await openBench()

    const result = await bench.bringLines('a.jsonl', lines)

    expect(result).toMatchObject({ status: 'imported', session: 'main', left: [] })
    expect(await bench.facts('main')).toEqual(facts)
    expect(await headerOf(bench, 'main')).toMatchObject({ project: '/project', preset: 'reviewer' })
    const log = await bench.store.open('main', { mode: 'read' })
    expect(Buffer.from(await log.getBlob(PNG_HASH))).toEqual(PNG)
    expect((await exported(bench.store, 'jsonl')).text).toBe(linesText(lines))
  })

  it.each([-1e12, 0.5, 8.64e15 + 1, 1e20])(
    'is the session again, whatever its clock said: %s',
    async (createdAt) => {
      await using there = await openBench()
      await keep(there.store, wholeTurn(HOSTILE), { createdAt })
      const { text: lines } = await exported(there.store, 'jsonl')
      for (const format of ['markdown', 'html'] as const) await exported(there.store, format)
      await using bench = await openBench()
      const result = await bench.bringLines('a.jsonl', lines.trimEnd().split('\n'))
      expect(result).toMatchObject({ status: 'imported', session: 'main', left: [] })
      expect(await headerOf(bench, 'main')).toMatchObject({ createdAt })
    },
  )

  it('changes nothing where the session is here, as it was or further on', async () => {
    const { lines, facts } = await original()
    await using bench = await openBench()
    await bench.bringLines('a.jsonl', lines)
    expect(await bench.bringLines('a.jsonl', lines)).toMatchObject({ status: 'already' })
    const earlier = lines.filter((line) => !line.startsWith('{"end"')).slice(0, 8)
    const result = await bench.bringLines('b.jsonl', earlier)
    expect(result).toMatchObject({ status: 'already', session: 'main' })
    expect(await bench.facts('main')).toEqual(facts)
  })

  it('goes on with the session that is here in an earlier state, or was cut short', async () => {
    const { lines, facts } = await original()
    await using bench = await openBench()
    const cut = await bench.bringLines('a.jsonl', lines.slice(0, 6))
    expect(cut.left).toEqual([
      { kind: 'the end of the export', count: 1, examples: ['it is cut off behind 5 facts'] },
    ])
    const result = await bench.bringLines('a.jsonl', lines)
    expect(result).toMatchObject({ status: 'imported', session: 'main' })
    expect(await bench.facts('main')).toEqual(facts)
  })

  it('gets an id of its own where another session has that id', async () => {
    const { lines } = await original()
    await using bench = await openBench()
    await keep(bench.store, [said([text('something else')])])
    const before = await bench.facts('main')

    const result = await bench.bringLines('a.jsonl', lines)

    expect(result.session).toMatch(/^main-[0-9a-f]{12}$/)
    expect(await bench.facts('main')).toEqual(before)
    expect((await bench.facts(result.session ?? '')).at(-1)).toMatchObject({
      type: 'session/imported',
      data: { from: 'cordage', session: 'main' },
    })
    const again = await bench.bringLines('a.jsonl', lines)
    expect(again).toMatchObject({ status: 'already', session: result.session })
  })

  it.each(['header', 'blob', 'fact'])('tells a damaged line: %s', async (which) => {
    const { lines } = await original()
    const at = lines.findIndex((line) =>
      line.includes(which === 'fact' ? '"seq":4,' : `"${which}"`),
    )
    await using bench = await openBench()
    const damaged = (lines[at] ?? '').replace(/[a-f0-9]{20}|"type":"[^"]*"|"createdAt"/, '"0"')
    const result = await bench.bringLines('a.jsonl', lines.with(at, damaged))
    if (which === 'header') {
      expect(result).toMatchObject({ status: 'failed', error: { code: 'IMPORT_EMPTY' } })
      return
    }
    expect(result.session).not.toBe('main')
    expect(result.left).toContainEqual(expect.objectContaining({ kind: 'damaged lines', count: 1 }))
    await mended(bench, result.session)
  })

  it('without any one of its facts is still a session that holds together', async () => {
    const { lines, facts } = await original()
    for (const fact of facts) {
      await using bench = await openBench()
      const kept = lines.filter((line) => !line.startsWith(`{"seq":${fact.seq},`))
      expect(kept).toHaveLength(lines.length - 1)
      const { session, status } = await bench.bringLines('a.jsonl', kept)
      expect(status).toBe('imported')
      const last = (await bench.facts(session ?? '')).at(-1)
      // Without the last one it is the earlier state of the same session.
      if (fact === facts.at(-1)) expect(session).toBe('main')
      else expect(last?.type).toBe('session/imported')
      if (fact !== facts.at(-1)) await mended(bench, session)
    }
  })

  it('keeps summaries in their places where facts before them are missing', async () => {
    await using bench = await openBench()
    await keep(bench.store, wholeTurn('words'))
    const { text: all } = await exported(bench.store, 'jsonl')
    const lines = all.trimEnd().split('\n')
    const without = lines.filter((line) => !line.includes('"attempt/start"'))
    await using other = await openBench()
    const { session } = await other.bringLines('a.jsonl', without)
    const fold = new SessionFold()
    for (const fact of await mended(other, session)) fold.add(fact)
    const texts = fold.surface.map(({ message }) => JSON.stringify(message.content))
    expect(texts.some((content) => content.includes('Summary words'))).toBe(true)
    expect(texts.some((content) => content.includes('Asked words'))).toBe(false)
  })

  it('brings no fact that its own kind does not allow, nor one that is too deep', async () => {
    const { lines } = await original()
    const deep = `{"seq":4,"time":1,"type":"x/y","v":1,"data":${'['.repeat(2000)}${']'.repeat(2000)}}`
    const bad = JSON.stringify({ seq: 4, time: 1, type: 'turn/start', v: 1, data: { turn: 'one' } })
    for (const line of [deep, bad, '{"seq":-1}', '[]', 'null']) {
      await using bench = await openBench()
      const { session, left } = await bench.bringLines('a.jsonl', lines.toSpliced(5, 0, line))
      expect(left[0]).toMatchObject({ kind: 'damaged lines', count: 1 })
      await mended(bench, session)
    }
  })

  it('that is newer than this version is refused', async () => {
    const { lines } = await original()
    await using bench = await openBench()
    const newer = lines.with(0, (lines[0] ?? '').replace('"format":1', '"format":2'))
    const result = await bench.bringLines('a.jsonl', newer)
    expect(result).toMatchObject({ status: 'failed', error: { code: 'IMPORT_NEWER' } })
  })

  it.each(['../../escape', '', 'a/b', '.hidden', 'x'.repeat(200)])(
    'cannot name its session %j',
    async (id) => {
      const { lines } = await original()
      await using bench = await openBench()
      const named = (lines[0] ?? '').replace('"id":"main"', `"id":${JSON.stringify(id)}`)
      const result = await bench.bringLines('a.jsonl', lines.with(0, named))
      expect(result.status).toBe('failed')
      expect(await bench.store.list({ children: true })).toEqual([])
    },
  )

  it('of a session that a process left open is as open as it was', async () => {
    await using bench = await openBench()
    const open = wholeTurn('words').slice(0, 11)
    await keep(bench.store, [
      ...open,
      called('9', 'bash', {}),
      returned('9', 'bash', 'x'),
      answered([]),
    ])
    const { text: lines } = await exported(bench.store, 'jsonl')
    const facts = await bench.facts('main')
    await using other = await openBench()
    const path = join(other.folder, 'a.jsonl')
    await writeFile(path, lines)
    expect(await other.bring(path)).toMatchObject({ status: 'imported', session: 'main' })
    expect(await other.facts('main')).toEqual(facts)
  })
})
