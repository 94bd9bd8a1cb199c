import { hash } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { decodeFrame, digest, encodeFrame, type FrameMeta } from '../src/frame.ts'
import { inflate } from '../src/facts.ts'
import type { FormatStep } from '../src/format-steps.ts'
import { compress } from '../src/zstd.ts'

type Line = Record<string, unknown>

/** A format that there never was: what is now `type` was `kind`, and `project` was `dir`. */
export const stepFromZero: FormatStep = {
  from: 0,
  to: 1,
  fact(fact) {
    const { seq, time, kind, ...rest } = fact as unknown as Line
    return { seq, time, type: kind, ...rest } as unknown as typeof fact
  },
  header(header) {
    const { dir, ...rest } = header as unknown as Line
    return { ...rest, project: dir } as unknown as typeof header
  },
}

/** Turns what `stepFromZero` makes back into what it takes. */
export const toZero = {
  line({ seq, time, type, ...rest }: Line): Line {
    return { seq, time, kind: type, ...rest }
  },
  header({ project, ...rest }: Line): Line {
    return { ...rest, dir: project }
  },
}

/** Writes a log anew as another version of the program would have written it. */
export async function asFormat(
  session: string,
  v: number,
  {
    line = (one) => one,
    header = (one) => one,
    meta: more = {},
  }: { line?: (line: Line) => Line; header?: (header: Line) => Line; meta?: Line } = {},
): Promise<void> {
  const folder = join(session, 'log')
  const seals = new Map<number, { bytes: number; sha256: string }>()
  for (const name of (await readdir(folder)).sort()) {
    const encoding = name.endsWith('.zst') ? 'zstd' : 'none'
    const bytes = await readFile(join(folder, name))
    const parts: Buffer[] = []
    let prev = ''
    for (let at = 0; at < bytes.length;) {
      const frame = decodeFrame(bytes, at, encoding)
      if ('problem' in frame) throw new Error(frame.reason)
      at = frame.end
      const { meta } = frame
      const text = meta.raw > 0 ? (await inflate(bytes, [frame], encoding)).toString() : ''
      const changed = meta.kind === 'facts' ? eachLine(text, line) : text
      const raw = Buffer.from(changed)
      const payload = encoding === 'none' || raw.length === 0 ? raw : await compress(raw)
      const sized = { raw: raw.length, size: payload.length, sum: digest(payload), prev, v }
      const head = meta.header ? { header: header({ ...meta.header }) } : {}
      const sealed = meta.seals?.map((seal) => ({ ...seal, ...seals.get(seal.segment) }))
      const whole = { ...meta, ...sized, ...head, ...(sealed ? { seals: sealed } : {}), ...more }
      const encoded = encodeFrame(whole as unknown as FrameMeta, payload, encoding)
      prev = encoded.check
      parts.push(encoded.bytes)
    }
    const written = Buffer.concat(parts)
    const number = Number(/\d+/.exec(name)?.[0])
    seals.set(number, { bytes: written.length, sha256: hash('sha256', written, 'hex') })
    await writeFile(join(folder, name), written)
  }
}

function eachLine(text: string, change: (line: Line) => Line): string {
  const lines = text.split('\n').slice(0, -1)
  return lines.map((one) => `${JSON.stringify(change(JSON.parse(one) as Line))}\n`).join('')
}
