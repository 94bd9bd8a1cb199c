import { readFileSync } from 'node:fs'

/** Milliseconds of CPU of this process until the result is called. */
export function startCpu(): () => number {
  const before = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  }
}

/**
 * Milliseconds until the result is called, less those in which this thread could have run while
 * the system ran others: what else the machine does is no stall of ours. Only Linux tells these.
 */
export function startOwnTime(): () => number {
  const [begin, waited] = [performance.now(), readWaitedMs()]
  return () => performance.now() - begin - (readWaitedMs() - waited)
}

/** The longest time of its own for which the event loop did not turn until the result is called. */
export function watchStalls(): () => number {
  let own = startOwnTime()
  let longest = 0
  const look = () => {
    longest = Math.max(longest, own())
    own = startOwnTime()
  }
  const timer = setInterval(look, 1)
  return () => {
    clearInterval(timer)
    look()
    return longest
  }
}

function readWaitedMs(): number {
  if (process.platform !== 'linux') return 0
  const [, waitedNs] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')
  return Number(waitedNs) / 1e6
}
