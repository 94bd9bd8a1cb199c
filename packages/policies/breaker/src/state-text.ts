import type { BreakerState } from './breaker.ts'

/** A state in words; `now` in epoch milliseconds. */
export function stateText(state: BreakerState, now: number): string {
  const times = state.failures === 1 ? 'once' : `${state.failures} times in a row`
  if (state.kind === 'half-open') return 'one request is on its way to see whether it is back'
  if (state.kind === 'closed') return state.failures === 0 ? 'works' : `works, but failed ${times}`
  const seconds = Math.ceil(Math.max(0, state.until - now) / 1_000)
  const rest = seconds > 0 ? `left alone for another ${seconds} s` : 'to be tried again'
  return `failed ${times}: ${rest}`
}
