/** The longest wait of a timer, 24.8 days: Node fires at once for anything longer. */
export const MAX_TIMER_MS = 2 ** 31 - 1
