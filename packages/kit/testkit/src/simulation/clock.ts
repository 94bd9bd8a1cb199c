import type { Clock } from '@cordage/core/store'

/** A clock that stands still until it is told otherwise. */
export interface SimulatedClock extends Clock {
  /** Lets `ms` pass, and calls what was due in them, in order. */
  advance(ms: number): void
}

export function simulatedClock(start = 1_700_000_000_000): SimulatedClock {
  let now = start
  const timers = new Set<{ readonly at: number; readonly run: () => void }>()
  const due = (end: number) => [...timers].filter(({ at }) => at <= end).sort(byTime)[0]
  return {
    now: () => now,
    after(ms, run) {
      const timer = { at: now + ms, run }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    advance(ms) {
      const end = now + ms
      for (let timer = due(end); timer; timer = due(end)) {
        timers.delete(timer)
        now = Math.max(now, timer.at)
        timer.run()
      }
      now = end
    },
  }
}

function byTime(a: { readonly at: number }, b: { readonly at: number }): number {
  return a.at - b.at
}
