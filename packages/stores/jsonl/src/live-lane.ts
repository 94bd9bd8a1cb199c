import { join } from 'node:path'
import type { Io, IoFile } from '@cordage/core/store'
import { closingOnFailure, errorCode, readWhole, writeWhole } from './io.ts'

/** An attempt that has brought as much as this is recovered without the rest. */
const maxLaneBytes = 8 * 1024 * 1024

export function livePath(directory: string): string {
  return join(directory, 'live.jsonl')
}

/** What the live lane held, up to the first line that is not whole. */
export async function readLive(io: Io, directory: string): Promise<unknown[]> {
  const lines: unknown[] = []
  try {
    const text = (await readWhole(io, livePath(directory), maxLaneBytes)).toString()
    for (const line of text.split('\n').slice(0, -1)) lines.push(JSON.parse(line))
  } catch {
    // Best effort: no lane, or a line that a crash cut short. What came before it is used.
  }
  return lines
}

/**
 * Deltas of the running attempt: appended without flushing, emptied once they are a fact. The
 * file exists while an owner has the log open, which is how a list knows whom to ask.
 */
export class LiveLane {
  readonly #io: Io
  readonly #path: string
  #file: IoFile | undefined
  #size = 0
  #work: Promise<void> = Promise.resolve()

  constructor(io: Io, directory: string) {
    this.#io = io
    this.#path = livePath(directory)
  }

  /** Opens it behind what is left of the last owner; a taken-over one keeps its own file. */
  async open(takenOver: boolean): Promise<void> {
    if (takenOver) await this.#replace()
    const file = (await this.#openAs('create').catch(existing)) ?? (await this.#openAs('write'))
    this.#size = await closingOnFailure(file, () => file.size())
    this.#file = file
  }

  append(lines: readonly unknown[]): void {
    const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    this.#then(async (file) => {
      if (this.#size + bytes.length > maxLaneBytes) return
      await writeWhole(file, bytes, this.#size)
      this.#size += bytes.length
    })
  }

  rotate(): void {
    this.#then(async (file) => {
      if (this.#size === 0) return
      await file.truncate(0)
      this.#size = 0
    })
  }

  /** Removes the file when nothing is in it that recovery would need. */
  async close(): Promise<void> {
    await this.#work
    const file = this.#file
    this.#file = undefined
    await file?.close().catch(ignored)
    if (file && this.#size === 0) await this.#io.remove(this.#path).catch(ignored)
  }

  /** Stops without touching the file: it belongs to another owner. */
  async leave(): Promise<void> {
    await this.#work
    const file = this.#file
    this.#file = undefined
    await file?.close().catch(ignored)
  }

  #openAs(mode: 'create' | 'write'): Promise<IoFile> {
    return this.#io.open(this.#path, mode)
  }

  async #replace(): Promise<void> {
    const bytes = await readWhole(this.#io, this.#path).catch(() => Buffer.alloc(0))
    const draft = `${this.#path}.tmp`
    await this.#io.remove(draft)
    const file = await this.#io.open(draft, 'create')
    await closingOnFailure(file, () => writeWhole(file, bytes, 0))
    await file.close()
    await this.#io.rename(draft, this.#path)
  }

  #then(work: (file: IoFile) => Promise<void>): void {
    this.#work = this.#work.then(() => this.#file && work(this.#file)).catch(ignored)
  }
}

export async function openLane(io: Io, directory: string, takenOver: boolean): Promise<LiveLane> {
  const lane = new LiveLane(io, directory)
  await lane.open(takenOver).catch(() => {
    // Without a lane only the partial text of a crashed attempt is lost.
  })
  return lane
}

function existing(error: unknown): undefined {
  if (errorCode(error) !== 'EEXIST') throw error
  return undefined
}

function ignored(): void {
  // Best effort by contract: a delta that is not kept is lost only if the process dies too.
}
