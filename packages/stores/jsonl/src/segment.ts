import { hash } from 'node:crypto'
import { join } from 'node:path'
import { sessionError } from '@cordage/core/session'
import { type Io, storeError } from '@cordage/core/store'
import { decodeFrame, type Encoding, type FrameMeta, type Seal } from './frame.ts'
import { errorCode, readWhole } from './io.ts'
import { findLog } from './log-folder.ts'
import { type FormatStep, formatSteps } from './format-steps.ts'
import { type Scan, scanSegment } from './scan.ts'

/** One file of a log. Only the newest is written to. */
export interface SegmentFile {
  readonly number: number
  readonly encoding: Encoding
  readonly path: string
}

export interface LoadedSegment {
  readonly file: SegmentFile
  readonly bytes: Buffer
  readonly scan: Scan
  readonly seal: Seal | undefined
  /** Why facts that were acknowledged cannot be read any more. */
  readonly damage: string | undefined
  readonly steps: readonly FormatStep[]
}

const extensions = { zstd: '.jsonl.zst', none: '.jsonl' } as const
const maxSealBytes = 64 * 1024

export function segmentPath(directory: string, number: number, encoding: Encoding): string {
  return join(directory, 'log', `${String(number).padStart(6, '0')}${extensions[encoding]}`)
}

/** Oldest first. Links and files with other names are not segments. */
export async function listSegments(io: Io, directory: string): Promise<SegmentFile[]> {
  const { folder, entries } = await logEntries(io, directory)
  const files: SegmentFile[] = []
  for (const { name, kind } of entries) {
    const match = /^(\d{6,15})\.jsonl(\.zst)?$/.exec(name)
    if (!match || kind !== 'file') continue
    const encoding = match[2] ? 'zstd' : 'none'
    files.push({ number: Number(match[1]), encoding, path: join(folder, name) })
  }
  return files.sort((a, b) => a.number - b.number)
}

async function logEntries(io: Io, directory: string) {
  const log = join(directory, 'log')
  try {
    return { folder: log, entries: await io.list(log) }
  } catch (error) {
    const folder = errorCode(error) === 'ENOENT' ? await findLog(io, directory) : undefined
    if (folder === undefined) throw error
    return { folder, entries: await io.list(folder) }
  }
}

export interface ReaderOptions {
  /** Of segments that no other one on the disk seals yet. */
  readonly seals?: readonly Seal[]
  readonly steps?: readonly FormatStep[]
}

/** Reads the segments of one session, each no further than a later one vouches for. */
export class SegmentReader {
  readonly files: readonly SegmentFile[]
  readonly #io: Io
  readonly #session: string
  readonly #steps: readonly FormatStep[]
  readonly #seals = new Map<number, Seal>()
  readonly #heads = new Map<number, FrameMeta | undefined>()

  constructor(
    io: Io,
    session: string,
    files: readonly SegmentFile[],
    { seals = [], steps = formatSteps }: ReaderOptions = {},
  ) {
    this.#io = io
    this.#session = session
    this.#steps = steps
    this.files = files
    for (const seal of seals) this.#seals.set(seal.segment, seal)
  }

  async load(file: SegmentFile): Promise<LoadedSegment> {
    const seal = await this.sealOf(file.number)
    const bytes = await readWhole(this.#io, file.path)
    const covered = seal ? bytes.subarray(0, seal.bytes) : bytes
    const { number: segment, encoding } = file
    const session = seal?.session ?? this.#session
    const scan = scanSegment(covered, { session, segment, encoding })
    if (scan.problem?.problem === 'newer') {
      throw storeError('STORE_FORMAT_NEWER', {
        id: this.#session,
        format: scan.problem.format ?? 0,
      })
    }
    return {
      file,
      bytes,
      scan,
      seal,
      damage: damageOf(file, covered, scan, seal),
      steps: this.#steps,
    }
  }

  /** The first frame of a segment, without the rest of it being read. */
  async head(file: SegmentFile): Promise<FrameMeta | undefined> {
    if (this.#heads.has(file.number)) return this.#heads.get(file.number)
    const bytes = await readWhole(this.#io, file.path, maxSealBytes)
    const frame = decodeFrame(bytes, 0, file.encoding)
    const valid =
      !('problem' in frame) &&
      frame.meta.segment === file.number &&
      (await this.#bears(file.number, frame.meta.session))
    const meta = valid ? frame.meta : undefined
    this.#heads.set(file.number, meta)
    const shared = meta && meta.session !== this.#session ? { session: meta.session } : {}
    for (const seal of meta?.seals ?? []) this.#seals.set(seal.segment, { ...shared, ...seal })
    return meta
  }

  /** Its own frames, or those that a later segment says it shares with another session. */
  async #bears(segment: number, session: string): Promise<boolean> {
    return session === this.#session || session === (await this.sealOf(segment))?.session
  }

  /** What a later segment vouches for of segment `number`. */
  async sealOf(number: number): Promise<Seal | undefined> {
    for (const file of this.files) {
      if (this.#seals.has(number)) break
      if (file.number > number) await this.head(file)
    }
    return this.#seals.get(number)
  }
}

export async function openSegments(
  io: Io,
  directory: string,
  session: string,
  options: ReaderOptions = {},
): Promise<SegmentReader> {
  try {
    const files = await listSegments(io, directory)
    const twice = files.find((file, index) => file.number === files[index - 1]?.number)
    if (!twice) return new SegmentReader(io, session, files, options)
    const reason = `it has two files for segment ${twice.number}`
    throw storeError('STORE_DAMAGED', { id: session, reason })
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
    throw sessionError('SESSION_NOT_FOUND', { id: session, location: directory }, { cause: error })
  }
}

function damageOf(
  file: SegmentFile,
  covered: Buffer,
  { problem, end, survivors, frames }: Scan,
  seal: Seal | undefined,
): string | undefined {
  const where = `segment ${file.number}`
  if (!seal) return survivors ? `${where} ${problem?.reason} at byte ${end}` : undefined
  if (problem) return `${where} ${problem.reason} at byte ${end}`
  if (covered.length < seal.bytes) return `${where} is shorter than when it was sealed`
  const spoiled = frames.some((frame) => frame.spoiled)
  const changed = !spoiled && hash('sha256', covered, 'hex') !== seal.sha256
  return changed ? `${where} is not what was sealed` : undefined
}
