import type { Fact, SessionHeader } from '@cordage/core/session'
import { type Snapshot, wordsAt } from '@cordage/core/store'
import { digest, encodeFrame, type Encoding, formatVersion, type FrameMeta } from './frame.ts'
import type { Seal } from './frame.ts'
import { compress } from './zstd.ts'

/** Frames that are written together, in one write. */
export class Batch {
  readonly #place: { session: string; segment: number; encoding: Encoding }
  readonly #parts: Buffer[] = []
  check: string
  next: number

  constructor(
    place: { session: string; segment: number; encoding: Encoding },
    after: { check: string; next: number },
  ) {
    this.#place = place
    this.check = after.check
    this.next = after.next
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#parts)
  }

  get length(): number {
    return this.#parts.reduce((sum, part) => sum + part.length, 0)
  }

  /** The first record of a log, which stock tools print like any other line. */
  async header(header: SessionHeader): Promise<void> {
    const line = JSON.stringify({ type: 'session', ...header })
    await this.#add('header', `${line}\n`, this.next, { header })
  }

  async seal(header: SessionHeader, seals: readonly Seal[]): Promise<void> {
    await this.#add('seal', '', this.next, { header, seals })
  }

  async snapshot(snapshot: Snapshot): Promise<void> {
    const words = wordsAt(snapshot)
    await this.#add('snapshot', `${JSON.stringify({ snapshot })}\n`, this.next, { words })
  }

  async facts(facts: readonly Fact[]): Promise<void> {
    if (facts.length === 0) return
    const text = facts.map((fact) => `${JSON.stringify(fact)}\n`).join('')
    await this.#add('facts', text, this.next + facts.length)
  }

  async #add(
    kind: FrameMeta['kind'],
    text: string,
    to: number,
    more: Pick<FrameMeta, 'header' | 'seals' | 'words'> = {},
  ): Promise<void> {
    const { session, segment, encoding } = this.#place
    const raw = Buffer.from(text)
    const payload = encoding === 'none' || raw.length === 0 ? raw : await compress(raw)
    const { bytes, check } = encodeFrame(
      {
        v: formatVersion,
        kind,
        session,
        segment,
        from: this.next,
        to,
        raw: raw.length,
        size: payload.length,
        sum: digest(payload),
        prev: this.check,
        ...more,
      },
      payload,
      encoding,
    )
    this.#parts.push(bytes)
    this.check = check
    this.next = to
  }
}
