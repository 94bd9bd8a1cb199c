import type { LiveDelta } from '../session/index.ts'
import type { Clock } from './clock.ts'
import type { SessionLog } from './store.ts'

const MAX_DELAY_MS = 100
const MAX_BYTES = 16_384

/** Gathers deltas and writes them to the live lane, joined, 100 ms or 16 KB later. */
export class LiveLane {
  readonly #log: SessionLog
  readonly #clock: Clock
  #waiting: LiveDelta[] = []
  #bytes = 0
  #cancelTimer: (() => void) | undefined

  constructor(log: SessionLog, clock: Clock) {
    this.#log = log
    this.#clock = clock
  }

  add(delta: LiveDelta): void {
    const last = this.#waiting.at(-1)
    if (last && continues(last, delta)) {
      this.#waiting[this.#waiting.length - 1] = { ...last, text: last.text + delta.text }
    } else {
      this.#waiting.push(delta)
    }
    this.#bytes += Buffer.byteLength(delta.text)
    if (this.#bytes >= MAX_BYTES) this.flush()
    else this.#cancelTimer ??= this.#clock.after(MAX_DELAY_MS, () => this.flush())
  }

  flush(): void {
    const lines = this.#take()
    if (lines.length > 0) this.#log.appendLive(lines)
  }

  /** Drops what was gathered of attempts: they ended, and the log holds what came of them. */
  rotate(): void {
    const running = this.#take().filter((delta) => delta.kind === 'tool-output')
    this.#log.rotateLive()
    for (const delta of running) this.add(delta)
  }

  #take(): LiveDelta[] {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    const lines = this.#waiting
    this.#waiting = []
    this.#bytes = 0
    return lines
  }
}

function continues(last: LiveDelta, next: LiveDelta): boolean {
  return (
    last.kind === next.kind &&
    last.callId === next.callId &&
    last.attempt === next.attempt &&
    last.step === next.step &&
    last.turn === next.turn
  )
}
