import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Breaker, type Pass } from '../src/breaker.ts'
import { stateText } from '../src/state-text.ts'

const limits = { maxFailures: 3, coolDownMs: 1_000 }

type Move =
  | { readonly kind: 'enter' }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'end'; readonly which: number; readonly how: 'succeeded' | 'failed' | 'left' }

const moves = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('enter' as const) }),
    fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(1_200) }),
    fc.record({
      kind: fc.constant('end' as const),
      which: fc.nat(5),
      how: fc.constantFrom('succeeded', 'failed', 'failed', 'failed', 'left'),
    }),
  ),
  { maxLength: 60, size: 'max' },
)

/** A breaker, the requests that are under way, and what an observer without its state knows. */
class World {
  now = 5_000
  readonly breaker = new Breaker(limits)
  readonly open: { pass: Pass; probe: boolean }[] = []
  /** Failures since anything else was heard. */
  failures = 0
  lastFailure = 0

  play(move: Move): void {
    if (move.kind === 'wait') this.now += move.ms
    if (move.kind === 'enter') this.enter()
    if (move.kind === 'end') this.end(move.which, move.how)
  }

  enter(): boolean {
    const { kind } = this.breaker.state
    const pass = this.breaker.enter(this.now)
    if (pass) this.open.push({ pass, probe: kind !== 'closed' })
    return pass !== undefined
  }

  end(which: number, how: 'succeeded' | 'failed' | 'left'): void {
    const [ended] = this.open.splice(which, 1)
    if (!ended) return
    if (how === 'failed') {
      this.failures += 1
      this.lastFailure = this.now
      return ended.pass.failed(this.now)
    }
    if (how === 'succeeded') this.failures = 0
    ended.pass[how]()
  }
}

describe('a breaker, whatever happens to the requests that it lets through', () => {
  const property = (check: (world: World, move: Move) => void) => () => {
    fc.assert(
      fc.property(moves, (list) => {
        const world = new World()
        for (const move of list) {
          check(world, move)
          world.play(move)
        }
      }),
    )
  }

  it(
    'never sends two requests to see whether the route is back',
    property(({ open }) => expect(open.filter(({ probe }) => probe).length).toBeLessThan(2)),
  )

  it(
    'lets everything through until so many have failed in a row',
    property((world) => {
      if (world.breaker.state.kind === 'closed') expect(world.enter()).toBe(true)
      if (world.failures === 0 && world.open.every(({ probe }) => !probe)) {
        // Only a failure opens it; a success that came too late changes nothing.
        if (world.lastFailure === 0) expect(world.breaker.state.kind).toBe('closed')
      }
    }),
  )

  it(
    'sends nothing within the cool-down of the failure that opened it',
    property(({ breaker, now }) => {
      const { state } = breaker
      if (state.kind !== 'open' || now >= state.until) return
      expect(state.failures).toBeGreaterThanOrEqual(limits.maxFailures)
      expect(state.until).toBeLessThanOrEqual(now + limits.coolDownMs)
      expect(breaker.enter(now)).toBeUndefined()
    }),
  )

  it('works again after one answer, from wherever it came', () => {
    fc.assert(
      fc.property(moves, (list) => {
        const world = new World()
        for (const move of list) world.play(move)
        while (world.open.length > 0) world.end(0, 'left')
        world.now += limits.coolDownMs
        expect(world.enter()).toBe(true)
        world.end(0, 'succeeded')
        expect(world.breaker.state).toEqual({ kind: 'closed', failures: 0 })
      }),
    )
  })

  it('opens after exactly so many failures, again after one, and waits as long as it was asked', () => {
    const breaker = new Breaker(limits)
    const fail = (now: number, waitMs?: number) => breaker.enter(now)?.failed(now, waitMs)
    fail(0)
    fail(0)
    expect(breaker.state.kind).toBe('closed')
    fail(0)
    expect(breaker.state).toEqual({ kind: 'open', failures: 3, until: 1_000 })
    expect(breaker.enter(999)).toBeUndefined()
    fail(1_000, 60_000)
    expect(breaker.state).toEqual({ kind: 'open', failures: 4, until: 61_000 })
  })

  it('does not count what was sent before it opened and ends after', () => {
    const breaker = new Breaker(limits)
    const late = breaker.enter(0)
    for (let i = 0; i < 3; i += 1) breaker.enter(0)?.failed(0)
    late?.succeeded()
    expect(breaker.state.kind).toBe('open')
  })

  it('says in words how a route is', () => {
    expect(stateText({ kind: 'closed', failures: 0 }, 0)).toBe('works')
    expect(stateText({ kind: 'closed', failures: 1 }, 0)).toBe('works, but failed once')
    expect(stateText({ kind: 'open', failures: 3, until: 1_500 }, 0)).toBe(
      'failed 3 times in a row: left alone for another 2 s',
    )
  })
})
