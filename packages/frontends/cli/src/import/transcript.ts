import { stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { isHarnessError } from '@cordage/core/error'
import { sessionDirectory, type SessionHeader } from '@cordage/core/session'
import type { About, Entry, TimedEntry } from './entry.ts'
import { importError } from './errors.ts'
import type { ImportPlace } from './import-place.ts'
import type { Imported } from './imported.ts'
import { LeftBehind } from './left-behind.ts'
import { childId, isImported, originFact } from './origin.ts'
import { SessionWriter } from './session-writer.ts'
import { entriesOf, type TranscriptSource } from './source.ts'
import { Weaver } from './weaver.ts'

interface Thread {
  readonly writer: SessionWriter
  readonly weaver: Weaver
}

/** Brings a transcript of another program in; what it started comes as sessions of their own. */
export async function importTranscript(
  place: ImportPlace,
  source: TranscriptSource,
  sha256: string,
): Promise<Imported> {
  const left = new LeftBehind()
  const entries = entriesOf(source, left)
  const { about, first } = await headOf(entries)
  if (!first) throw importError('IMPORT_EMPTY', { path: source.path })
  const { from, path } = source
  const name = `${from}-${slugOf(about.session)}`
  const id = `${name}-${sha256.slice(0, 16)}`
  const project = await projectFor(place, about, left)
  const known = { path, from, session: id, project }
  if (await isImported(place, id, sha256)) {
    const nothing = { turns: 0, messages: 0, facts: 0, children: [], left: [], earlier: [] }
    return { ...known, ...nothing, status: 'already' }
  }
  const before = await place.store.list({ idPrefix: `${name}-`, archived: true })
  const createdAt = first.time ?? Math.round((await stat(path)).mtimeMs)
  const header: SessionHeader = { format: 1, id, createdAt, project, depth: 0 }
  const threads = new Threads(place, source, header, left)
  try {
    const main = await threads.of(undefined, createdAt)
    const { cwd } = about
    const moved =
      place.project === undefined && cwd !== undefined && isAbsolute(cwd) && cwd !== project
    if (moved) main.writer.add(sessionDirectory({ cwd }), createdAt)
    await threads.add(first)
    for await (const entry of entries) if (entry.kind !== 'about') await threads.add(entry)
    const children = await threads.endChildren()
    await main.weaver.end()
    if (main.weaver.messages === 0) throw importError('IMPORT_EMPTY', { path })
    main.writer.add(originFact({ from, session: about.session, path, sha256, left }), undefined)
    await threads.close()
    const { turns, messages } = main.weaver
    const earlier = before.map((one) => one.header.id)
    const size = { turns, messages, facts: main.writer.facts }
    return { ...known, ...size, children, left: left.kinds, earlier, status: 'imported' }
  } catch (error) {
    await threads.abandon()
    throw error
  }
}

/** What stands before the first message says where and what the session is. */
async function headOf(entries: AsyncGenerator<Entry>) {
  let about: About = { kind: 'about' }
  for (;;) {
    const { value, done } = await entries.next()
    if (done) return { about, first: undefined }
    if (value.kind !== 'about') return { about, first: value }
    if (value.thread !== undefined) continue
    about = {
      kind: 'about',
      session: about.session ?? value.session,
      cwd: about.cwd ?? value.cwd,
    }
  }
}

async function projectFor(place: ImportPlace, { cwd }: About, left: LeftBehind): Promise<string> {
  if (place.project !== undefined) return place.project
  if (cwd !== undefined && isAbsolute(cwd)) return place.projectOf(cwd)
  left.add('project directories', cwd ?? 'it does not say where it was made')
  return place.projectOf(place.cwd)
}

/** The session's name there, as far as it fits into a name here. */
function slugOf(session: string | undefined): string {
  const slug = (session ?? '').replaceAll(/[^A-Za-z0-9]+/g, '').slice(-12)
  return slug === '' ? 'unnamed' : slug
}

/** The sessions that one transcript becomes, each begun with its first entry. */
class Threads {
  readonly #place: ImportPlace
  readonly #source: TranscriptSource
  readonly #header: SessionHeader
  readonly #left: LeftBehind
  readonly #threads = new Map<string | undefined, Thread>()

  constructor(
    place: ImportPlace,
    source: TranscriptSource,
    header: SessionHeader,
    left: LeftBehind,
  ) {
    this.#place = place
    this.#source = source
    this.#header = header
    this.#left = left
  }

  async of(thread: string | undefined, createdAt: number): Promise<Thread> {
    const known = this.#threads.get(thread)
    if (known) return known
    const header = thread === undefined ? this.#header : this.#childHeader(createdAt)
    const writer = await SessionWriter.create(this.#place.store, header)
    const weaver = new Weaver(writer, this.#source.from, this.#left)
    const made = { writer, weaver }
    this.#threads.set(thread, made)
    return made
  }

  async add(entry: TimedEntry & { readonly thread?: string | undefined }): Promise<void> {
    const { writer, weaver } = await this.of(entry.thread, entry.time ?? this.#header.createdAt)
    await weaver.add(entry)
    await writer.settle(weightOf(entry))
  }

  async endChildren(): Promise<string[]> {
    for (const { weaver } of this.#children()) await weaver.end()
    return this.#children().map(({ writer }) => writer.header.id)
  }

  /** The main one last: what has it is whole. */
  async close(): Promise<void> {
    for (const { writer } of this.#children()) {
      await writer.close().catch((error: unknown) => {
        // An import that died before its main session had it whole already.
        if (!isHarnessError(error, 'STORE_ID_TAKEN')) throw error
      })
    }
    await this.#threads.get(undefined)?.writer.close()
  }

  async abandon(): Promise<void> {
    for (const { writer } of this.#threads.values()) await writer.abandon()
  }

  #children(): Thread[] {
    return [...this.#threads].flatMap(([name, thread]) => (name === undefined ? [] : [thread]))
  }

  #childHeader(createdAt: number): SessionHeader {
    const { id } = this.#header
    const parent = { id, kind: 'spawn' } as const
    return { ...this.#header, id: childId(id, this.#threads.size), createdAt, parent, depth: 1 }
  }
}

function weightOf(entry: TimedEntry): number {
  if (!('parts' in entry)) return 0
  return entry.parts.reduce((sum, part) => {
    if (part.type === 'call') return sum + part.arguments.length
    return sum + (part.type === 'image' ? 0 : part.text.length)
  }, 0)
}
