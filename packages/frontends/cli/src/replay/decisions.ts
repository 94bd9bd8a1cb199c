import type { ToolCallPart } from '@cordage/core/message'
import { approvalAsked, canonical, toolResult, type Fact } from '@cordage/core/session'
import type { Divergence } from './divergence.ts'
import type { RecordedCall, RecordedStep, RecordedTurn } from './recording.ts'

type Found = Omit<Divergence, 'turn' | 'step'>

/** Compares what the tree decides about calls with what the log says was decided. */
export class Decisions {
  /** Effects that a person allowed for longer than one call, from then on. */
  readonly #granted = new Set<string>()
  readonly #asked = new Set<string>()

  /** What a turn that was replayed has granted. */
  learn({ steps }: RecordedTurn): void {
    for (const { calls } of steps.values()) {
      for (const { asked, decided } of calls.values()) {
        if (decided?.outcome !== 'allowed' || (decided.scope ?? 'once') === 'once') continue
        for (const effect of asked?.effects ?? []) this.#granted.add(canonical(effect))
      }
    }
  }

  /** A fact that the tree has just logged. */
  judge(
    fact: Fact,
    step: RecordedStep | undefined,
    played: ReadonlySet<string>,
  ): Found | undefined {
    if (approvalAsked.is(fact)) return this.#judgeQuestion(fact.data, step)
    if (!toolResult.is(fact) || played.has(fact.data.callId)) return undefined
    const { callId, name: tool, error } = fact.data
    const then = step?.calls.get(callId)?.result
    const [before, after] = [then?.error?.code, error?.code]
    if (!then || before === after || after === undefined || after.startsWith('ABORTED')) {
      return undefined
    }
    const kind = [before, after].includes('TOOL_DENIED') ? 'policy' : 'tool'
    return { kind, tool, callId, before: wordsOf(then), after: wordsOf(fact.data) }
  }

  /** A call that may run now. */
  run({ id: callId, name: tool }: ToolCallPart, then: RecordedCall | undefined): Found | undefined {
    const { asked, decided } = then ?? {}
    if (!asked || this.#asked.has(callId)) return undefined
    if (asked.effects.every((effect) => this.#granted.has(canonical(effect)))) return undefined
    const before = `asked (${asked.reason}), ${decided?.outcome ?? 'without an answer'}`
    return { kind: 'policy', tool, callId, before, after: 'runs without asking' }
  }

  #judgeQuestion(
    { callId = '', tool, reason, effects }: Parameters<typeof approvalAsked>[0],
    step: RecordedStep | undefined,
  ): Found | undefined {
    this.#asked.add(callId)
    const then = step?.calls.get(callId)
    const found = { kind: 'policy', callId, ...(tool === undefined ? {} : { tool }) } as const
    if (!then?.asked) {
      const before = then?.result ? wordsOf(then.result) : 'was not asked about'
      return { ...found, before, after: `asks: ${reason}` }
    }
    if (canonical(then.asked.effects) === canonical(effects)) return undefined
    return { ...found, before: canonical(then.asked.effects), after: canonical(effects) }
  }
}

function wordsOf({ error }: Parameters<typeof toolResult>[0]): string {
  return error ? `${error.code}: ${error.message}` : 'ran'
}
