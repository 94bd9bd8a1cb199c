import type { CompactionConfig } from './config.ts'

/** Keeps a summariser that fails again and again from being asked before every step. */
export interface Pauses {
  isPaused(sessionId: string): boolean
  note(sessionId: string, worked: boolean): void
}

export function createPauses(
  { failuresBeforePause, pauseMs }: Pick<CompactionConfig, 'failuresBeforePause' | 'pauseMs'>,
  now: () => number = Date.now,
): Pauses {
  const failures = new Map<string, { count: number; last: number }>()
  return {
    isPaused(sessionId) {
      const { count = 0, last = 0 } = failures.get(sessionId) ?? {}
      return count >= failuresBeforePause && now() - last < pauseMs
    },
    note(sessionId, worked) {
      if (worked) return void failures.delete(sessionId)
      const { count = 0 } = failures.get(sessionId) ?? {}
      failures.set(sessionId, { count: count + 1, last: now() })
    },
  }
}
