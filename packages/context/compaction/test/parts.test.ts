import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { estimateTokens } from '@cordage/core/model'
import { budgetOf } from '../src/budget.ts'
import { compactionConfig } from '../src/config.ts'
import { DEFAULT_SUMMARY_PROMPT, SNAPSHOT_PARTS } from '../src/prompt.ts'
import { createPauses } from '../src/pauses.ts'
import { readSnapshot } from '../src/snapshot.ts'
import { chunksOf } from '../src/summarise.ts'
import { snapshot } from './stage.ts'

const config = compactionConfig.parse({})

describe('the budget of a window', () => {
  it('is T = floor(min(W * 0.8, W - O - B)), with 16 % of W - O kept', () => {
    const W = 1_000_000
    const O = 64_000
    expect(budgetOf({ contextWindow: W, maxTokens: O }, {}, config)).toEqual({
      threshold: Math.floor(Math.min(W * 0.8, W - O - 65_536)),
      keepTokens: Math.floor((W - O) * 0.16),
      room: W - O,
      headroomTokens: 65_536,
    })
    const tight = { contextWindow: 200_000, maxTokens: 100_000 }
    expect(budgetOf(tight, {}, config).threshold).toBe(200_000 - 100_000 - 65_536)
  })

  it('takes the output cap of the request, not that of the model', () => {
    const info = { contextWindow: 200_000, maxTokens: 100_000 }
    expect(budgetOf(info, { maxTokens: 4_000 }, config).room).toBe(196_000)
    expect(budgetOf(info, { maxTokens: 999_999 }, config).room).toBe(100_000)
  })

  it('shrinks its headroom to the stated floor where the window is too small for it', () => {
    const budget = budgetOf({ contextWindow: 32_000, maxTokens: 8_000 }, {}, config)
    expect(budget).toMatchObject({ headroomTokens: 2_048, threshold: 24_000 - 2_048 })
  })

  it('always leaves something to keep and something to sum up', () => {
    const size = fc.integer({ min: 1, max: 2_000_000 })
    fc.assert(
      fc.property(size, size, size, (contextWindow, maxTokens, headroomTokens) => {
        const own = { ...config, headroomTokens }
        const { threshold, keepTokens, room } = budgetOf({ contextWindow, maxTokens }, {}, own)
        expect(threshold).toBeLessThanOrEqual(room)
        expect(keepTokens).toBeLessThanOrEqual(Math.max(0, threshold / 2))
        if (contextWindow - maxTokens >= 2) expect(threshold).toBeGreaterThan(0)
      }),
    )
  })
})

describe('a snapshot', () => {
  it('is asked for by its elements', () => {
    for (const part of SNAPSHOT_PARTS) expect(DEFAULT_SUMMARY_PROMPT).toContain(`<${part}>`)
  })

  it('is taken without what stands around it', () => {
    expect(readSnapshot(`Here it is:\n${snapshot('好')}\nDone.`)).toBe(snapshot('好'))
  })

  it.each(SNAPSHOT_PARTS)('needs %s exactly once', (part) => {
    const whole = snapshot('x')
    expect(readSnapshot(whole.replace(`<${part}>`, ''))).toBeUndefined()
    expect(readSnapshot(whole.replace(`</${part}>`, ''))).toBeUndefined()
    expect(readSnapshot(whole.replace(`<${part}>`, `<${part}></${part}><${part}>`))).toBeUndefined()
  })

  it('says something, and is all there', () => {
    expect(readSnapshot(snapshot(' '))).toBeUndefined()
    expect(readSnapshot('')).toBeUndefined()
    expect(readSnapshot(snapshot().slice(0, -20))).toBeUndefined()
  })
})

describe('chunks', () => {
  it('hold every character once, in order, and fit', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', ' ', '字', '😀', '\n', '{'),
      maxLength: 400,
    })
    fc.assert(
      fc.property(
        fc.array(text, { maxLength: 6 }),
        fc.integer({ min: 8, max: 60 }),
        (texts, most) => {
          const chunks = chunksOf(texts, most)
          const joined = (parts: readonly string[]) => parts.join('').replaceAll('\n', '')
          expect(joined(chunks)).toBe(joined(texts))
          for (const chunk of chunks) expect(chunk.isWellFormed()).toBe(true)
          // What stands between two texts is not counted.
          for (const chunk of chunks) expect(estimateTokens(chunk)).toBeLessThanOrEqual(most + 12)
        },
      ),
    )
  })
})

describe('pauses', () => {
  it('begin after failures in a row, end with time, and are over once it works', () => {
    let now = 0
    const pauses = createPauses({ failuresBeforePause: 2, pauseMs: 100 }, () => now)
    pauses.note('a', false)
    expect(pauses.isPaused('a')).toBe(false)
    pauses.note('a', false)
    expect([pauses.isPaused('a'), pauses.isPaused('b')]).toEqual([true, false])
    now = 100
    expect(pauses.isPaused('a')).toBe(false)
    pauses.note('a', false)
    expect(pauses.isPaused('a')).toBe(true)
    pauses.note('a', true)
    expect(pauses.isPaused('a')).toBe(false)
  })
})
