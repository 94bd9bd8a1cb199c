import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { toolCallsOf } from '@cordage/core/message'
import {
  attemptStart,
  systemMessage,
  repairFacts,
  requestAt,
  requestMessages,
  SessionFold,
  type FoldSnapshot,
  type SurfaceEntry,
} from '@cordage/core/session'
import { counted, factsOf, foldOf, logOf, lookup } from './random-log.ts'

const choices = fc.array(fc.nat(999), { maxLength: 250, size: 'max' })

function throughJson(snapshot: FoldSnapshot): FoldSnapshot {
  return JSON.parse(JSON.stringify(snapshot)) as FoldSnapshot
}

function repairOf(fold: SessionFold) {
  let ids = 0
  const newId = () => `r${(ids += 1)}`
  return repairFacts({ turn: fold.turn, openCompactions: fold.openCompactions, live: [], newId })
}

/** Whether each assistant message is followed by one result for each of its calls, in order. */
function unpaired(surface: readonly SurfaceEntry[]): string[] {
  const problems: string[] = []
  for (let index = 0; index < surface.length;) {
    const calls = toolCallsOf(surface[index]?.message ?? { content: [] }).map((call) => call.id)
    index += 1
    for (const id of calls) {
      const [part] = surface[index]?.message.content ?? []
      if (part?.type === 'tool-result' && part.callId === id) index += 1
      else problems.push(`no result of ${id} at ${index}`)
    }
    if (surface[index]?.message.role === 'tool') problems.push(`a stray result at ${index}`)
  }
  return problems
}

test('a fold from a snapshot at any cut equals the fold of everything', () => {
  fc.assert(
    fc.property(choices, fc.nat(), (numbers, at) => {
      const facts = logOf(numbers)
      const cut = at % (facts.length + 1)
      const snapshot = throughJson(foldOf(facts.slice(0, cut)).snapshot())
      const resumed = new SessionFold({ snapshot, lookup })
      for (const fact of facts.slice(cut)) resumed.add(fact)
      const whole = foldOf(facts)
      expect(throughJson(resumed.snapshot())).toEqual(throughJson(whole.snapshot()))
      expect(resumed.surface).toEqual(whole.surface)
      expect(resumed.state(counted)).toBe(whole.state(counted))
    }),
  )
})

test('a definition that becomes known late folds as if it had always been known', () => {
  fc.assert(
    fc.property(choices, fc.nat(), (numbers, at) => {
      const facts = logOf(numbers)
      const cut = at % (facts.length + 1)
      const late = new SessionFold()
      for (const fact of facts.slice(0, cut)) late.add(fact)
      const resumed = new SessionFold({ snapshot: throughJson(late.snapshot()), lookup })
      for (const fact of facts.slice(cut)) resumed.add(fact)
      expect(resumed.state(counted)).toBe(foldOf(facts).state(counted))
    }),
  )
})

test('after a stop at any fact repair pairs every call, closes everything, and then has nothing', () => {
  fc.assert(
    fc.property(choices, fc.nat(), (numbers, at) => {
      const facts = logOf(numbers)
      const fold = foldOf(facts.slice(0, at % (facts.length + 1)))
      for (const fact of factsOf(repairOf(fold), fold.nextSeq)) fold.add(fact)
      expect(unpaired(fold.surface)).toEqual([])
      expect(fold.turn).toMatchObject({ open: false, stepOpen: false, attemptOpen: false })
      expect(fold.openCompactions).toEqual([])
      expect(repairOf(fold)).toEqual([])
    }),
  )
})

test('a repair that is itself cut short is finished by the next one, without a second result', () => {
  fc.assert(
    fc.property(choices, fc.nat(), fc.nat(), (numbers, at, cut) => {
      const facts = logOf(numbers)
      const fold = foldOf(facts.slice(0, at % (facts.length + 1)))
      const whole = repairOf(fold)
      const first = whole.slice(0, cut % (whole.length + 1))
      for (const fact of factsOf(first, fold.nextSeq)) fold.add(fact)
      const rest = repairOf(fold)
      expect(first.length + rest.length).toBe(whole.length)
      expect(rest.map((fact) => fact.type)).toEqual(whole.slice(first.length).map((f) => f.type))
    }),
  )
})

test('no system prompt outlives a later one in front, and every entry is there once', () => {
  fc.assert(
    fc.property(choices, (numbers) => {
      const facts = logOf(numbers)
      const { surface } = foldOf(facts)
      const inFront = facts.findLast((fact) => {
        return systemMessage.is(fact) && fact.data.placement === 'front'
      })
      const systems = surface.filter((entry) => entry.message.role === 'system')
      expect(systems.filter((entry) => entry.seq < (inFront?.seq ?? 0))).toEqual([])
      expect(new Set(surface.map((entry) => entry.seq)).size).toBe(surface.length)
    }),
  )
})

test('the request of every attempt can be rebuilt from the log alone', async () => {
  await fc.assert(
    fc.asyncProperty(choices, async (numbers) => {
      const facts = logOf(numbers)
      const fold = new SessionFold({ lookup })
      for (const fact of facts) {
        if (attemptStart.is(fact) && fold.requestHeader) {
          const { turn, step, attempt } = fact.data
          expect(await requestAt(facts, turn, step, attempt)).toEqual({
            header: fold.requestHeader,
            messages: requestMessages(fold.surface, fold.requestHeader),
          })
        }
        fold.add(fact)
      }
    }),
  )
})
