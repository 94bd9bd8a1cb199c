import { anyEvent, defineEvent, SessionFold, type Fact } from '@cordage/core/session'
import { expect, test } from 'vitest'
import { z } from 'zod'

/** A counter whose first version kept a text, and whose second one had another name for it. */
const counted = defineEvent({
  type: '@somebody/plugin/counted',
  version: 3,
  schema: z.object({ by: z.number() }),
  initial: 0,
  reduce: (sum, { data }) => sum + data.by,
  upgrade(data, v) {
    const old = z
      .object({ count: z.coerce.number() })
      .or(z.object({ step: z.number() }))
      .parse(data)
    return { by: v === 1 && 'count' in old ? old.count : 'step' in old ? old.step : 0 }
  },
})

const fact = (seq: number, v: number, data: unknown): Fact => {
  return Object.freeze({ seq, time: 1, type: counted.type, v, data })
}

const log = [fact(0, 1, { count: '5' }), fact(1, 2, { step: 7 }), fact(2, 3, { by: 100 })]
const known = { lookup: () => anyEvent(counted) }

test('older records are folded as the present version has them', () => {
  const fold = new SessionFold(known)
  for (const one of log) fold.add(one)
  expect(fold.state(counted)).toBe(112)
  expect(log.map((one) => counted.upgraded(one))).toEqual([
    fact(0, 3, { by: 5 }),
    fact(1, 3, { by: 7 }),
    fact(2, 3, { by: 100 }),
  ])
  expect(log[0]).toEqual(fact(0, 1, { count: '5' }))
})

test('older records wait for their definition, and are brought up then', () => {
  const fold = new SessionFold()
  for (const one of log) fold.add(one)
  const snapshot = JSON.parse(JSON.stringify(fold.snapshot()))
  expect(new SessionFold({ snapshot }).state(counted)).toBe(112)
})

test('a record that cannot be brought up is reported and changes nothing', () => {
  const reported: string[] = []
  const fold = new SessionFold({ ...known, report: (type) => void reported.push(type) })
  fold.add(log[0] ?? fact(0, 1, {}))
  fold.add(fact(1, 2, { neither: true }))
  fold.add(fact(2, 3, { by: 1 }))
  expect(fold.state(counted)).toBe(6)
  expect(reported).toEqual([counted.type])
})

test('a record of a later version waits for a definition that knows it', () => {
  const fold = new SessionFold(known)
  fold.add(fact(0, 4, { unheard: 'of' }))
  fold.add(fact(1, 3, { by: 1 }))
  expect(fold.state(counted)).toBe(1)
  expect(fold.snapshot().states.unknown).toEqual([fact(0, 4, { unheard: 'of' })])
})
