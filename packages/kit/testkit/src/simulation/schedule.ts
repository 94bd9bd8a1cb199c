import type { IoCall } from './fault.ts'
import { seededRandom } from './random.ts'

/** Decides when a call goes on: it waits for what this gives. */
export type Schedule = (call: IoCall) => Promise<void>

/**
 * Lets one of those who wait go on at a time, drawn by `seed`. What runs between two waits runs to
 * its end first, so that the same seed gives the same order as long as nothing else is waited for.
 */
export function seededSchedule(seed: number): Schedule {
  const random = seededRandom(seed)
  const waiting: (() => void)[] = []
  const next = () => {
    const [chosen] = waiting.splice(Math.floor(random() * waiting.length), 1)
    if (waiting.length > 0) setImmediate(next)
    chosen?.()
  }
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve)
      if (waiting.length === 1) setImmediate(next)
    })
}
