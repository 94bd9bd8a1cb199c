import { statSync, watch, type FSWatcher } from 'node:fs'
import { basename, dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ComposedProfile } from './layers.ts'

/** Editors write in several steps; so much quiet ends one change. */
const QUIET_MS = 150
/** What looks half written, or taken away on the way to being replaced, gets this much longer. */
const DOUBT_MS = 800
/** A folder that went away is looked for again so often. */
const MISSING_MS = 1000

export interface LayerWatchOptions {
  /** What runs; without it, what the files say at the start. */
  readonly running?: ComposedProfile
  /** The files of layers, those that do not exist yet too. */
  paths(): readonly string[]
  /** Composes what the files say now; throws where one cannot be read. */
  read(): ComposedProfile
  /** Makes it run; throws where it does not, with what ran before restored. */
  apply(composed: ComposedProfile): Promise<void>
  onRejected(error: unknown): void
}

export interface LayerWatch {
  /** Ends the watching; a change that is being applied comes to its end first. */
  close(): Promise<void>
}

/**
 * Applies what layers become, one change after the other. Folders are watched, since editors
 * replace files, and contents compared, since most events change nothing.
 */
export function watchLayers(options: LayerWatchOptions): LayerWatch {
  return new FolderWatch(options)
}

interface Reading {
  readonly key: string
  readonly composed?: ComposedProfile
  readonly error?: unknown
  /** Layers went away, are empty or broken: it may not be all yet. */
  readonly doubtful: boolean
}

class FolderWatch implements LayerWatch {
  readonly #options: LayerWatchOptions
  readonly #folders = new Map<string, { watcher: FSWatcher; inode: number }>()
  readonly #closing = new AbortController()
  #seen: Reading
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> | undefined
  #again = false

  constructor(options: LayerWatchOptions) {
    this.#options = options
    this.#seen = options.running ? this.#readingOf(options.running) : this.#read()
    this.#watchFolders()
    // What changed before anything was watched.
    this.#touch()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    clearTimeout(this.#timer)
    for (const { watcher } of this.#folders.values()) watcher.close()
    this.#folders.clear()
    await this.#looking
  }

  get #closed(): boolean {
    return this.#closing.signal.aborted
  }

  #touch(afterMs = QUIET_MS): void {
    if (this.#closed) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#look(), afterMs).unref()
  }

  #look(): void {
    this.#again = this.#looking !== undefined
    this.#looking ??= this.#lookOnce().finally(() => {
      this.#looking = undefined
      if (this.#again) this.#touch()
    })
  }

  async #lookOnce(): Promise<void> {
    this.#watchFolders()
    const reading = this.#read()
    if (reading.key === this.#seen.key) return
    if (reading.doubtful) {
      await sleep(DOUBT_MS, undefined, { ref: false, signal: this.#closing.signal }).catch(() => {
        // Closing ends the wait too.
      })
      if (this.#read().key !== reading.key) return this.#touch()
    }
    if (this.#closed) return
    this.#seen = reading
    try {
      if (reading.composed === undefined) throw reading.error
      await this.#options.apply(reading.composed)
    } catch (error) {
      this.#options.onRejected(error)
    }
  }

  #read(): Reading {
    try {
      return this.#readingOf(this.#options.read())
    } catch (error) {
      return { key: `unreadable: ${String(error)}`, error, doubtful: true }
    }
  }

  #readingOf(composed: ComposedProfile): Reading {
    const { layers, composition, profile } = composed
    const before = this.#seen?.composed?.layers ?? []
    const emptied = before.some(
      ({ file, text }) =>
        text.trim() !== '' &&
        !layers.some((layer) => layer.file === file && layer.text.trim() !== ''),
    )
    const texts = layers.map(({ kind, file, text }) => [kind, file, text])
    const key = JSON.stringify([profile.preset, texts])
    return { key, composed, doubtful: emptied || composition.problems.length > 0 }
  }

  #watchFolders(): void {
    const names = Map.groupBy(this.#options.paths(), dirname)
    for (const [folder, { watcher, inode }] of this.#folders) {
      if (names.has(folder) && inodeOf(folder) === inode) continue
      watcher.close()
      this.#folders.delete(folder)
    }
    for (const [folder, paths] of names)
      this.#watchFolder(folder, new Set(paths.map((path) => basename(path))))
  }

  #watchFolder(folder: string, names: ReadonlySet<string>): void {
    if (this.#closed || this.#folders.has(folder)) return
    const inode = inodeOf(folder)
    if (inode === undefined) return this.#touch(MISSING_MS)
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) => {
        // Two dots lead what a mounted volume swaps; its own name tells that the folder went away.
        const ours = name === null || names.has(name) || name.startsWith('..')
        if (ours || name === basename(folder)) this.#touch()
      })
      watcher.on('error', () => this.#touch(MISSING_MS))
      this.#folders.set(folder, { watcher, inode })
    } catch {
      // The system has no watch left: looking now and then does as well.
      this.#touch(MISSING_MS)
    }
  }
}

function inodeOf(folder: string): number | undefined {
  return statSync(folder, { throwIfNoEntry: false })?.ino
}
