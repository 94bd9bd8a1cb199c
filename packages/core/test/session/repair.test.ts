import { toolCallsOf } from '@cordage/core/message'
import { expect, test } from 'vitest'
import {
  attemptStart,
  compactionStart,
  coreEvent,
  repairFacts,
  SessionFold,
  stepStart,
  toolCall,
  turnStart,
  type NewFact,
} from '@cordage/core/session'
import { assistant, at, result, user } from './messages.ts'
import { factsOf, foldOf } from './random-log.ts'

const begun = [turnStart({ turn: 1 }), stepStart(at), user('hi')]
const called = (callId: string) => toolCall({ ...at, callId, name: 'do', arguments: '{}' })

function repair(facts: NewFact[], live: unknown[] = []) {
  const fold = foldOf(factsOf(facts))
  const { turn, openCompactions } = fold
  return repairFacts({ turn, openCompactions, live, newId: () => 'new' })
}

function outline(facts: readonly NewFact[]) {
  return facts.map(({ type, data }) => {
    const { callId, error, reason } = data as {
      callId?: string
      error?: { code: string }
      reason?: string
    }
    return [type, callId, error?.code ?? reason].filter((word) => word !== undefined).join(' ')
  })
}

test('nothing is repaired where nothing is open', () => {
  expect(repair([])).toEqual([])
})

test('a call that was dispatched has an unknown outcome, one that was not has not started', () => {
  const facts = [...begun, assistant('a', ['x', 'y', 'z']), called('y'), called('x'), result('x')]
  expect(outline(repair(facts))).toEqual([
    'tool/result y TOOL_OUTCOME_UNKNOWN',
    'tool/result z TOOL_NOT_STARTED',
    'step/end',
    'turn/end interrupted',
  ])
})

test('of two calls with one id the one that was dispatched is told from the other', () => {
  const facts = [...begun, assistant('a', ['x', 'x']), called('x')]
  expect(outline(repair(facts)).slice(0, 2)).toEqual([
    'tool/result x TOOL_OUTCOME_UNKNOWN',
    'tool/result x TOOL_NOT_STARTED',
  ])
  const both = [...begun, assistant('a', ['x', 'x']), called('x'), called('x'), result('x')]
  expect(outline(repair(both))[0]).toBe('tool/result x TOOL_OUTCOME_UNKNOWN')
  expect(outline(repair(both))[1]).toBe('step/end')
})

test('the texts tell the model what is unknown and what to do', () => {
  const facts = repair([...begun, assistant('a', ['x', 'y']), called('x')])
  const texts = facts.slice(0, 2).map((fact) => JSON.stringify(fact.data))
  expect(texts[0]).toMatch(/do was running.*unknown.*before repeating/)
  expect(texts[1]).toMatch(/do was started.*no effect.*call it again/)
})

test('an open attempt is interrupted and keeps the text that had arrived', () => {
  const delta = { ...at, attempt: 2, kind: 'text' }
  const live = [
    { ...delta, attempt: 1, text: 'of an earlier attempt' },
    { ...delta, text: 'Once ' },
    { ...delta, kind: 'reasoning', text: 'hm' },
    { ...delta, text: 'upon' },
    'not a delta',
    null,
  ]
  const facts = repair([...begun, attemptStart({ ...at, attempt: 2 })], live)
  expect(outline(facts)).toEqual(['attempt/failed INTERRUPTED', 'step/end', 'turn/end interrupted'])
  expect(facts[0]?.data).toMatchObject({
    attempt: 2,
    partial: 'Once upon',
    error: { retryable: true },
  })
})

test('an attempt of which nothing arrived has no partial text', () => {
  const [failed] = repair([...begun, attemptStart({ ...at, attempt: 1 })])
  expect(failed?.data).not.toHaveProperty('partial')
})

test('what the live lane holds of an attempt that ended is left alone', () => {
  const live = [{ ...at, attempt: 1, kind: 'text', text: 'old' }]
  const facts = [...begun, attemptStart({ ...at, attempt: 1 }), assistant('a')]
  expect(outline(repair(facts, live))).toEqual(['step/end', 'turn/end interrupted'])
})

test('an open compaction is ended with an error, inside the turn', () => {
  const facts = [turnStart({ turn: 1 }), compactionStart({ id: 'k' })]
  expect(outline(repair(facts))).toEqual(['compaction/end INTERRUPTED', 'turn/end interrupted'])
})

test('a log that holds what a server sent instead of an id can be repaired and asked from', () => {
  const broken = assistant('a', [7 as unknown as string, 'y'])
  const log = [...begun, broken]
  const facts = repair(log)
  expect(outline(facts).slice(0, 2)).toEqual([
    'tool/result 7 TOOL_NOT_STARTED',
    'tool/result y TOOL_NOT_STARTED',
  ])
  for (const fact of facts)
    expect(coreEvent(fact.type)?.schema.safeParse(fact.data).success).toBe(true)
  expect(repair([...log, ...facts])).toEqual([])
  const { surface } = foldOf(factsOf([...log, ...facts]))
  const [asked, ...results] = surface.slice(1).map(({ message }) => message)
  expect(asked && toolCallsOf(asked).map(({ id }) => id)).toEqual(['7', 'y'])
  expect(results.map(({ role }) => role)).toEqual(['tool', 'tool'])
})

test('a snapshot that holds such an id is repaired as well', () => {
  const { turn } = foldOf(factsOf(begun))
  const unanswered = [{ callId: 7 as unknown as string, name: 'do', dispatched: false }]
  const snapshot = { ...foldOf(factsOf(begun)).snapshot(), turn: { ...turn, unanswered } }
  const fold = new SessionFold({ snapshot })
  const facts = repairFacts({ turn: fold.turn, openCompactions: [], live: [], newId: () => 'new' })
  expect(outline(facts)[0]).toBe('tool/result 7 TOOL_NOT_STARTED')
  for (const fact of factsOf(facts, fold.nextSeq)) fold.add(fact)
  expect(fold.turn.unanswered).toEqual([])
})
