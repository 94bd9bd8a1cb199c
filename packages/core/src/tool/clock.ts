import type { Clock } from '../store/index.ts'

/** The longest wait of a timer, 24.8 days: Node fires at once for anything longer. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** Time as turns and calls see it: what waits here is waited for, and keeps the process alive. */
export const turnClock: Clock = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, Math.min(ms, MAX_TIMER_MS))
    return () => clearTimeout(timer)
  },
}
