export interface BreakerLimits {
  /** So many failures in a row open it. */
  readonly maxFailures: number
  readonly coolDownMs: number
}

export type BreakerState =
  | { readonly kind: 'closed'; readonly failures: number }
  /** `until`: epoch milliseconds. */
  | { readonly kind: 'open'; readonly failures: number; readonly until: number }
  /** One request is on its way to see whether the route is back. */
  | { readonly kind: 'half-open'; readonly failures: number }

/** The right to send one request; one of these is to be called when its end is known. */
export interface Pass {
  succeeded(): void
  /** `waitMs` is what the server asked for. */
  failed(now: number, waitMs?: number): void
  /** It says nothing of the route: the request was cancelled. */
  left(): void
}

/** Lets requests through until they fail in a row, then one at a time after each cool-down. */
export class Breaker {
  readonly #limits: BreakerLimits
  #state: BreakerState = { kind: 'closed', failures: 0 }

  constructor(limits: BreakerLimits) {
    this.#limits = limits
  }

  get state(): BreakerState {
    return this.#state
  }

  /** `undefined`: nothing may be sent now. */
  enter(now: number): Pass | undefined {
    const { kind, failures } = this.#state
    if (kind === 'half-open' || (kind === 'open' && now < this.#state.until)) return undefined
    if (kind === 'open') this.#state = { kind: 'half-open', failures }
    return this.#pass(this.#state.kind)
  }

  /** What a request says counts while the breaker is as it was when the request was sent. */
  #pass(sent: BreakerState['kind']): Pass {
    let over = false
    const once = (change: (state: BreakerState) => BreakerState) => {
      if (!over && this.#state.kind === sent) this.#state = change(this.#state)
      over = true
    }
    return {
      succeeded: () => once(() => ({ kind: 'closed', failures: 0 })),
      failed: (now, waitMs = 0) => once((state) => this.#afterFailure(state, now, waitMs)),
      left: () =>
        once((state) => (sent === 'half-open' ? { ...state, kind: 'open', until: 0 } : state)),
    }
  }

  #afterFailure({ kind, failures }: BreakerState, now: number, waitMs: number): BreakerState {
    const { maxFailures, coolDownMs } = this.#limits
    const count = failures + 1
    if (kind === 'closed' && count < maxFailures) return { kind, failures: count }
    return { kind: 'open', failures: count, until: now + Math.max(coolDownMs, waitMs) }
  }
}
