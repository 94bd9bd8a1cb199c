import { existsSync, readdirSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import type { CatalogEntry, Told } from './catalog-rows.ts'

/** A call to the thread of the catalog; each is answered, in order. */
export type CatalogCall = { readonly number: number } & CatalogRequest

type CatalogRequest =
  | { kind: 'next'; list: number; count: number }
  | { kind: 'end'; list: number; told: Record<string, string> }
  | { kind: 'forget'; id: string }
  | { kind: 'clear' }
  | { kind: 'close' }

export interface CatalogAnswer {
  readonly number: number
  /** Without it, it failed. */
  readonly value?: string
}

/** One list in the making, newest first. */
export interface CatalogPages {
  /** Nothing in it when the list is at its end; `undefined` when it has to be made without. */
  next(count: number): Promise<CatalogEntry[] | undefined>
  /** Says what was read of a log that came without it. */
  tell(id: string, told: Told): void
  end(): void
}

/** Remembers what logs say, so that a list need not read them. Never the truth, never needed. */
export interface Catalog {
  /** `undefined` where reading the logs is as quick, or it cannot be used. */
  begin(): CatalogPages | undefined
  forget(id: string): Promise<void>
  /** Throws away all that it knows. */
  clear(): Promise<void>
  close(): Promise<void>
}

export interface CatalogOptions {
  /** The folder of the sessions. */
  readonly root: string
  /** From how many sessions on it is worth a thread. */
  readonly from?: number
}

/** A catalog in a thread of its own, which is started by the first list that it serves. */
export class ThreadCatalog implements Catalog {
  readonly #root: string
  readonly #from: number
  readonly #waiting = new Map<number, (value: string | undefined) => void>()
  #worker: Promise<Worker | undefined> | undefined
  #broken = false
  #closing = false
  #calls = 0
  #lists = 0

  constructor({ root, from = 100 }: CatalogOptions) {
    this.#root = root
    this.#from = from
  }

  begin(): CatalogPages | undefined {
    if (this.#broken || !this.#isWorth()) return undefined
    const list = ++this.#lists
    const told: Record<string, string> = {}
    return {
      next: async (count) => {
        const page = await this.#ask({ kind: 'next', list, count })
        const entries = page === undefined ? undefined : entriesIn(page)
        if (entries === undefined) await this.clear()
        return entries
      },
      tell: (id, what) => void (told[id] = JSON.stringify(what)),
      end: () => void this.#ask({ kind: 'end', list, told }),
    }
  }

  async forget(id: string): Promise<void> {
    if (this.#isThere()) await this.#ask({ kind: 'forget', id })
  }

  async clear(): Promise<void> {
    if (this.#isThere()) await this.#ask({ kind: 'clear' })
  }

  async close(): Promise<void> {
    const worker = await this.#worker
    if (!worker || this.#broken) return
    const gone = new Promise((resolve) => worker.once('exit', resolve))
    void this.#ask({ kind: 'close' })
    this.#closing = true
    await gone
  }

  #isThere(): boolean {
    return !this.#broken && existsSync(join(this.#root, 'catalog.db'))
  }

  #isWorth(): boolean {
    try {
      return this.#isThere() || readdirSync(this.#root).length >= this.#from
    } catch {
      // No folder, no sessions.
      return false
    }
  }

  /** `undefined` when it failed: nothing that is asked of a catalog is needed. */
  async #ask(request: CatalogRequest): Promise<string | undefined> {
    this.#worker ??= this.#start()
    const worker = await this.#worker
    if (this.#broken || !worker) return undefined
    const number = ++this.#calls
    worker.ref()
    worker.postMessage({ ...request, number } satisfies CatalogCall)
    return new Promise((resolve) => this.#waiting.set(number, resolve))
  }

  async #start(): Promise<Worker | undefined> {
    try {
      return await this.#thread()
    } catch {
      // Where a process may have no threads, lists are made without.
      this.#broken = true
      return undefined
    }
  }

  async #thread(): Promise<Worker> {
    const { Worker } = await import('node:worker_threads')
    // Sources run as they are; the packed product has the same file next to this one.
    const file = new URL(`./catalog-worker${extname(import.meta.url)}`, import.meta.url)
    const worker = new Worker(file, { workerData: this.#root, execArgv: [], name: 'catalog' })
    worker.on('message', ({ number, value }: CatalogAnswer) => this.#settle(worker, number, value))
    for (const event of ['error', 'exit']) worker.on(event, () => this.#fail(worker))
    return worker
  }

  #settle(worker: Worker, number: number, value: string | undefined): void {
    this.#waiting.get(number)?.(value)
    this.#waiting.delete(number)
    // A program may end while nothing is asked.
    if (this.#waiting.size === 0 && !this.#closing) worker.unref()
  }

  #fail(worker: Worker): void {
    this.#broken = true
    for (const number of this.#waiting.keys()) this.#settle(worker, number, undefined)
  }
}

function entriesIn(page: string): CatalogEntry[] | undefined {
  try {
    return JSON.parse(page) as CatalogEntry[]
  } catch {
    // A spoiled row: the catalog begins anew.
    return undefined
  }
}
