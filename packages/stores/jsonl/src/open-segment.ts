import { createHash, type Hash } from 'node:crypto'
import type { Io, IoFile } from '@cordage/core/store'
import type { Encoding, Seal } from './frame.ts'
import { closingOnFailure, errorCode, writeWhole } from './io.ts'
import { segmentPath } from './segment.ts'

/** A place in a segment: its bytes up to here, their hash, the last frame's check, the next seq. */
export interface Mark {
  readonly bytes: number
  readonly hash: Hash
  readonly check: string
  readonly next: number
}

export interface TakenSnapshot {
  readonly bytes: number
  readonly end: number
}

/** The segment that is written to. `good` is what was written whole, `durable` what was flushed. */
export class OpenSegment {
  readonly number: number
  good: Mark
  durable: Mark
  /** The last snapshot in it: its bytes, and where it ends. */
  snapshot: TakenSnapshot | undefined
  /** Where the first snapshot ends. */
  begins = 0
  /** A flush failed: what the system still holds in memory may never reach the disk. */
  suspect = false
  readonly #file: IoFile

  constructor(number: number, file: IoFile, next: number) {
    this.number = number
    this.#file = file
    this.good = { bytes: 0, hash: createHash('sha256'), check: '', next }
    this.durable = this.good
  }

  /** Adds whole frames; when this throws, `good` is as it was. */
  async write(bytes: Buffer, check: string, next: number): Promise<void> {
    const { bytes: at, hash } = this.good
    await writeWhole(this.#file, bytes, at)
    this.good = { bytes: at + bytes.length, hash: hash.copy().update(bytes), check, next }
  }

  took(snapshot: TakenSnapshot): void {
    if (!this.snapshot) this.begins = snapshot.end
    this.snapshot = snapshot
  }

  async sync(): Promise<void> {
    const reached = this.good
    try {
      await this.#file.sync()
    } catch (error) {
      this.suspect = true
      throw error
    }
    this.durable = reached
  }

  /** False when there may be bytes after `good`. */
  async isEven(): Promise<boolean> {
    try {
      return (await this.#file.size()) === this.good.bytes
    } catch {
      // What cannot be looked at is not relied on.
      return false
    }
  }

  sealAt(mark: Mark): Seal {
    return { segment: this.number, bytes: mark.bytes, sha256: mark.hash.copy().digest('hex') }
  }

  async close(): Promise<void> {
    await this.#file.close()
  }
}

/** Creates segment `number`, which fences out every owner before; `undefined` when it exists. */
export async function createSegment(
  io: Io,
  directory: string,
  { number, encoding }: { number: number; encoding: Encoding },
): Promise<IoFile | undefined> {
  const path = segmentPath(directory, number, encoding)
  try {
    const file = await io.open(path, 'create')
    if (await isOnly(io, directory, { number, encoding }, file)) return file
    await file.close()
    await io.remove(path)
    return undefined
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return undefined
    throw error
  }
}

/** Throws what the system says, with the new file gone: left there, it would fence out its maker. */
async function isOnly(
  io: Io,
  directory: string,
  { number, encoding }: { number: number; encoding: Encoding },
  file: IoFile,
): Promise<boolean> {
  const other = segmentPath(directory, number, encoding === 'zstd' ? 'none' : 'zstd')
  try {
    return !(await closingOnFailure(file, () => io.stat(other)))
  } catch (error) {
    await io.remove(segmentPath(directory, number, encoding))
    throw error
  }
}
