const CHARS_PER_MS = 20
const MAX_BURST = 20_000

/**
 * Passes text on at no more than 20,000 characters a second: people who watch cannot read more,
 * and a command that floods its output must not flood the session.
 */
export function throttle(show: (text: string) => void): (text: string) => void {
  let allowance = MAX_BURST
  let last = performance.now()
  let skipped = false
  return (text) => {
    const now = performance.now()
    allowance = Math.min(MAX_BURST, allowance + (now - last) * CHARS_PER_MS)
    last = now
    if (text.length > allowance) {
      skipped = true
      return
    }
    allowance -= text.length
    show(skipped ? `…\n${text}` : text)
    skipped = false
  }
}
