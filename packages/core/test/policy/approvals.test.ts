import { openScope } from '@cordage/core/kernel'
import type { ApprovalAnswer, ApprovalRequest } from '@cordage/core/policy'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { actor, openPolicy, write, type PolicyFixture } from './broker-fixture.ts'

let fixture: PolicyFixture
beforeEach(async () => {
  fixture = await openPolicy()
})
afterEach(() => fixture.close())

const request: ApprovalRequest = {
  id: 'q1',
  actor: actor(),
  effects: [write('/e/a')],
  reason: 'outside',
}
const never = () => new AbortController().signal
const yes = (by: string): ApprovalAnswer => ({ outcome: 'allowed', by })

describe('approvals', () => {
  it('without anybody are unanswered', async () => {
    const answer = await fixture.root.approvals.ask(request, never())
    expect(answer).toMatchObject({ outcome: 'unanswered', by: 'nobody' })
  })

  it('take the first answer in order; passing, throwing and nonsense are none', async () => {
    const { root, logged } = fixture
    const asked: string[] = []
    const answerer = (name: string, answer: () => ApprovalAnswer | undefined, order: number) => {
      root.approvals.answerer(root, async () => (asked.push(name), answer()), { order })
    }
    answerer('last', () => yes('last'), 9)
    answerer('passes', () => undefined, 1)
    answerer('nonsense', () => JSON.parse('{"outcome":"ok","by":"x"}') as ApprovalAnswer, 3)
    answerer('says no', () => ({ outcome: 'denied', by: 'says no' }), 5)
    root.approvals.answerer(
      root,
      () => {
        throw new Error('broken')
      },
      { order: 2 },
    )
    expect(await root.approvals.ask(request, never())).toMatchObject({ by: 'says no' })
    expect(asked).toEqual(['passes', 'nonsense', 'says no'])
    expect(logged.join()).toContain('broken')
  })

  it('end at once when withdrawn, though the answerer goes on, and nobody else is asked', async () => {
    const { root } = fixture
    const late = Promise.withResolvers<ApprovalAnswer>()
    let second = 0
    root.approvals.answerer(root, () => late.promise, { order: 1 })
    root.approvals.answerer(root, async () => (second++, yes('second')), { order: 2 })
    const stop = new AbortController()
    const answer = root.approvals.ask(request, stop.signal)
    stop.abort()
    expect(await answer).toMatchObject({ outcome: 'unanswered', by: 'cancelled' })
    late.resolve(yes('late'))
    expect(second).toBe(0)
  })

  it('that were withdrawn before ask nobody', async () => {
    const { root } = fixture
    let asked = 0
    root.approvals.answerer(root, async () => (asked++, yes('x')))
    const answer = await root.approvals.ask(request, AbortSignal.abort())
    expect([answer.outcome, asked]).toEqual(['unanswered', 0])
  })

  it('of one scope are not answered from another', async () => {
    const { root } = fixture
    const [a, b] = [openScope(root, 'a'), openScope(root, 'b')]
    root.approvals.answerer(a.ctx, async () => yes('a'))
    expect((await root.approvals.ask(request, never(), a)).outcome).toBe('allowed')
    expect((await root.approvals.ask(request, never(), b)).outcome).toBe('unanswered')
    expect((await root.approvals.ask(request, never())).outcome).toBe('unanswered')
    await a.close()
    await b.close()
  })
})
