import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ImportFormat } from '../src/import/entry.ts'
import {
  checkSession,
  linesOf,
  linesText,
  openBench,
  samples,
  story,
  type Bench,
} from './import-fixture.ts'
import { disturbed, sources, unreadable } from './disturbed.ts'

/** Whatever became of it: a session that holds together, or a failure with a code. */
async function checkImport(
  bench: Bench,
  { from, text }: { from: ImportFormat; text: string },
): Promise<void> {
  const path = join(bench.folder, 'a.jsonl')
  await writeFile(path, text)
  const result = await bench.bring(path, from)
  if (result.status === 'failed') {
    expect(result.error?.code).toBe('IMPORT_EMPTY')
    expect(await bench.store.list({ children: true })).toEqual([])
    return
  }
  const sessions = await bench.store.list({ children: true })
  checkSession(await bench.facts(result.session ?? ''))
  for (const { header } of sessions) await bench.store.delete(header.id)
}

/** Values that stand where others are expected. */
const strange = fc.oneof(
  fc.constantFrom<unknown>(null, true, -1, 1e308, '', '\uD800', '../../etc', [], {}, [[]], [null]),
  fc.constantFrom<unknown>({ type: 'text' }, [{ type: 'tool_use' }], '__proto__', 'x'.repeat(9999)),
  fc.constantFrom<unknown>(...unreadable),
  fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<unknown>,
)

/** Each run reads and writes files. */
const MANY = { timeout: 300_000 }

const anySource = fc.constantFrom(...sources)

const change = fc.record({
  line: fc.nat({ max: 50 }),
  path: fc.array(fc.nat({ max: 20 }), { maxLength: 7 }),
  value: strange,
})

/** Any values in any places. */
const otherValues = fc
  .tuple(anySource, fc.array(change, { minLength: 1, maxLength: 4 }))
  .map(([{ from, lines }, changes]) => {
    const changed = [...lines]
    for (const { line, path, value } of changes) {
      const at = line % lines.length
      const record: unknown = JSON.parse(changed[at] ?? '')
      changed[at] = JSON.stringify(disturbed(record, path, value)) ?? 'null'
    }
    return { from, text: linesText(changed) }
  })

/** Without any of its lines, with some twice, in their order or another. */
const otherLines = fc
  .tuple(anySource, fc.array(fc.nat({ max: 50 }), { maxLength: 30 }), fc.boolean())
  .map(([{ from, lines }, order, sorted]) => {
    const picked = order.map((at) => at % lines.length)
    const kept = sorted ? picked.toSorted((a, b) => a - b) : picked
    return { from, text: linesText(kept.map((at) => lines[at])) }
  })

/** Cut off or overwritten at any byte. */
const otherBytes = fc
  .tuple(anySource, fc.nat(), fc.string())
  .map(([{ from, lines }, place, garbage]) => {
    const text = linesText(lines)
    const at = place % text.length
    const rest = garbage === '' ? '' : text.slice(at + garbage.length)
    return { from, text: text.slice(0, at) + garbage + rest }
  })

describe('a transcript that is not as it should be', () => {
  it('becomes a whole session, whichever values, lines or bytes are not', MANY, async () => {
    await using bench = await openBench()
    const any = fc.oneof(otherValues, otherLines, otherBytes)
    await fc.assert(fc.asyncProperty(any, (transcript) => checkImport(bench, transcript)))
  })

  it('gives each of several calls with one id a result of its own', async () => {
    await using bench = await openBench()
    const lines = (await linesOf(samples.codex)).map((line) =>
      line.replaceAll(/call_[123]/g, 'same'),
    )
    const result = await bench.bringLines('a.jsonl', lines)
    const facts = await bench.facts(result.session ?? '')
    checkSession(facts)
    const told = story(facts).filter((line) => /^(call|result) /.test(line))
    expect(told.slice(0, 6)).toEqual([
      'call same: shell',
      'call same-2: shell',
      'result same !: 1 failing\n',
      'result same-2: export const total = 1\n',
      'call same-3: apply_patch',
      'result same-3: Success',
    ])
  })

  it('says which results had no call', async () => {
    await using bench = await openBench()
    const lines = (await linesOf(samples.codex)).filter((line) => !line.includes('cat cart.js'))
    const result = await bench.bringLines('a.jsonl', lines)
    expect(result.left).toContainEqual({
      kind: 'results without a call',
      count: 1,
      examples: ['call_1'],
    })
  })

  it('shows nothing that drives a terminal in what it says', async () => {
    await using bench = await openBench()
    const lines = [...(await linesOf(samples.codex)), '\u001b]0;title\u0007 no JSON']
    const { left } = await bench.bringLines('a.jsonl', lines)
    // oxlint-disable-next-line no-control-regex
    expect(JSON.stringify(left)).not.toMatch(/\u001b|\\u001b/)
    expect(left.some(({ kind }) => kind === 'damaged lines')).toBe(true)
  })
})
