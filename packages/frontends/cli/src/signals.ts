const EXITS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

/** No person is as fast as that. */
const ECHO_MS = 60

type SignalName = keyof typeof EXITS

/**
 * Two stages: the first signal cancels, whatever runs ends in order and decides the exit code;
 * the second ends the process at once.
 */
export function listenForSignals(warn: (text: string) => void): {
  signal: AbortSignal
  /** Gives the signals back to their defaults. */
  dispose(): void
} {
  const controller = new AbortController()
  let cancelledAt = 0
  const onSignal = (name: SignalName) => {
    // One Ctrl-C comes twice where a launcher in the same terminal hands it on.
    if (controller.signal.aborted && performance.now() - cancelledAt < ECHO_MS) return
    if (controller.signal.aborted) process.exit(EXITS[name])
    cancelledAt = performance.now()
    warn(`\n${name}: stopping in order; once more ends at once\n`)
    controller.abort(name)
  }
  const names = Object.keys(EXITS) as SignalName[]
  for (const name of names) process.on(name, onSignal)
  return {
    signal: controller.signal,
    dispose: () => names.forEach((name) => process.off(name, onSignal)),
  }
}

/** The exit code of a process that a first signal cancelled. */
export function exitOfSignal(signal: AbortSignal): number {
  return EXITS[String(signal.reason) as SignalName] ?? 130
}
