import type { AnyPlugin, RootContext } from '@cordage/core/kernel'
import { modes, type Actor, type Answer, type Effect, type Mode } from '@cordage/core/policy'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { coreRows, openRowBench, rowsNeededBy, type BenchRow, type RowBench } from './core-rows.ts'

export interface PolicyUnderTest {
  readonly plugin: AnyPlugin
  readonly config?: Readonly<Record<string, unknown>>
  readonly rows?: Readonly<Record<string, AnyPlugin>>
  readonly decisions: readonly {
    readonly effect: Effect
    /** Default: `workspace-write` with no writable root. */
    readonly mode?: Mode
    /** `unchanged`: what the policy is without this plugin. */
    readonly answer: Answer | 'unchanged'
  }[]
}

const ID = 'under-test'
const strictness: Readonly<Record<Answer, number>> = { allow: 0, ask: 1, deny: 2 }

/** What people rely on of a plugin with rules. Call it at the top of a test file. */
export function policyContract(name: string, subject: PolicyUnderTest): void {
  const { plugin, config = {}, rows, decisions } = subject
  const base = {
    ...rowsNeededBy(plugin, rows),
    'core-policy': { plugin: coreRows['core-policy']! },
  }
  const row: BenchRow = { plugin, config }

  describe(`${name} keeps the policy contract`, () => {
    let bench: RowBench
    beforeEach(async () => {
      bench = await openRowBench()
      await bench.apply(base)
    })
    afterEach(() => bench[Symbol.asyncDispose]())
    const ask = (effect: Effect, mode?: Mode) => answerOf(bench.root, effect, mode)

    const cases = decisions.map((one) => [JSON.stringify(one.effect), one.answer, one] as const)
    it.each(cases)('judges %s: %s', async (_text, _answer, { effect, mode, answer }) => {
      const before = ask(effect, mode)
      await bench.apply({ ...base, [ID]: row })
      expect(ask(effect, mode)).toBe(answer === 'unchanged' ? before : answer)
      await bench.apply(base)
      expect(ask(effect, mode)).toBe(before)
    })

    it.each(cases)('never allows what was denied: %s', async (_text, _answer, { effect }) => {
      const before = modes.map((mode) => ask(effect, mode))
      await bench.apply({ ...base, [ID]: row })
      const denied = modes.filter((_, i) => before[i] === 'deny')
      expect(denied.filter((mode) => strictness[ask(effect, mode)] < strictness.deny)).toEqual([])
    })
  })
}

function answerOf(root: RootContext, effect: Effect, mode: Mode = 'workspace-write'): Answer {
  const actor: Actor = {
    sessionId: 'contract',
    agentId: 'contract',
    authority: { mode, writableRoots: [] },
  }
  return root.policy.decide(effect, actor).answer
}
