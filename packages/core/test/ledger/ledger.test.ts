import { isHarnessError, toExitCode } from '@cordage/core/error'
import { createRoot, mount, type RootContext } from '@cordage/core/kernel'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import ledger from '../../src/ledger/index.ts'

let root: RootContext
let close: () => Promise<void>
beforeAll(async () => {
  root = createRoot()
  const row = mount(root, { id: 'core-ledger', plugin: ledger, config: {}, timeoutMs: 1000 })
  await row.settled()
  close = () => row.dispose()
})
afterAll(() => close())

function refusal(action: () => void): unknown {
  try {
    action()
  } catch (error) {
    if (!isHarnessError(error, 'BUDGET_EXCEEDED')) throw error
    expect(toExitCode(error)).toBe(124)
    return error.details['limit']
  }
  return undefined
}
const usage = { inputTokens: 60, outputTokens: 40 }

describe('an account', () => {
  it('refuses before the spend, typed with the limit', () => {
    const account = root.ledger.open('a', { limits: { maxSteps: 2, maxToolCalls: 1 } })
    account.reserve('step')
    account.reserve('step')
    expect(refusal(() => account.reserve('step'))).toBe('maxSteps')
    account.reserve('tool-call')
    expect(refusal(() => account.reserve('tool-call'))).toBe('maxToolCalls')
    expect(account.totals).toMatchObject({ steps: 2, toolCalls: 1 })
  })

  it('counts nothing for figures that are no numbers, or negative ones', () => {
    const account = root.ledger.open('a', { limits: { maxTokens: 150, maxCostUsd: 1 } })
    account.settle(usage, 0.5)
    const odd = { inputTokens: Number.NaN, outputTokens: -90, cacheReadTokens: Infinity }
    account.settle(odd, Number.NaN)
    account.settle({ ...odd, inputTokens: '9' as unknown as number }, -5)
    expect(account.totals.usage).toEqual({ ...usage, cacheReadTokens: 0 })
    expect(account.totals.costUsd).toBe(0.5)
    account.settle(usage, 0.5)
    expect(refusal(() => account.reserve('step'))).toBe('maxTokens')
  })

  it('refuses what comes after tokens or money ran out, and nothing before', () => {
    const account = root.ledger.open('a', { limits: { maxTokens: 150, maxCostUsd: 1 } })
    account.settle(usage, 0.5)
    account.reserve('step')
    account.settle(usage, 0.4)
    expect(refusal(() => account.reserve('step'))).toBe('maxTokens')
    expect(account.totals.usage).toMatchObject({ inputTokens: 120, outputTokens: 80 })
    const money = root.ledger.open('m', { limits: { maxCostUsd: 1 } })
    money.settle(usage, 1)
    expect(refusal(() => money.reserve('tool-call'))).toBe('maxCostUsd')
  })

  it('says when a route declares no price', () => {
    const account = root.ledger.open('a', {})
    account.settle(usage, 0.25)
    expect(account.totals.unpriced).toBe(false)
    account.settle(usage, undefined)
    expect(account.totals).toMatchObject({ costUsd: 0.25, unpriced: true })
  })

  it('refuses after the deadline', () => {
    const account = root.ledger.open('a', { limits: { deadline: Date.now() - 1 } })
    expect(refusal(() => account.reserve('step'))).toBe('deadline')
  })

  it('counts for every account above, and a refusal above reserves nothing anywhere', () => {
    const top = root.ledger.open('top', { limits: { maxSteps: 2 } })
    const left = root.ledger.open('left', { parent: top })
    const right = root.ledger.open('right', { parent: top, limits: { maxSteps: 5 } })
    left.reserve('step')
    right.reserve('step')
    expect(refusal(() => left.reserve('step'))).toBe('maxSteps')
    expect([top, left, right].map(({ totals }) => totals.steps)).toEqual([2, 1, 1])
    left.settle(usage, 1)
    expect([top, left, right].map(({ totals }) => totals.costUsd)).toEqual([1, 1, 0])
  })

  it('has limits that only shrink on the way down, by what is left', () => {
    const deadline = Date.now() + 60_000
    const top = root.ledger.open('top', { limits: { maxTokens: 500, maxSteps: 3, deadline } })
    top.settle(usage, 0)
    top.reserve('step')
    const child = root.ledger.open('c', {
      parent: top,
      limits: { maxTokens: 1_000_000, maxSteps: 1, maxCostUsd: 2, deadline: deadline + 5 },
    })
    expect(child.limits).toEqual({ maxTokens: 400, maxSteps: 1, maxCostUsd: 2, deadline })
    const grandchild = root.ledger.open('g', { parent: child })
    expect(grandchild.limits).toEqual(child.limits)
    expect(Object.isFrozen(child.limits)).toBe(true)
  })

  it('that is closed takes no reservation, and still settles what was under way', () => {
    const top = root.ledger.open('top', {})
    const account = root.ledger.open('a', { parent: top })
    account.close()
    expect(() => account.reserve('step')).toThrow(/closed/)
    account.settle(usage, 1)
    expect(top.totals.costUsd).toBe(1)
  })
})
