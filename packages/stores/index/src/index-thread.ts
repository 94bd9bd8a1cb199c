import type { Worker } from 'node:worker_threads'
import type { Answer, Call, Calls } from './calls.ts'
import { indexError } from './errors.ts'

interface Waiting {
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
}

/** The index was spoiled, and is empty now. */
export class BeganAnew extends Error {
  override readonly name = 'BeganAnew'
}

/** The thread that holds the index; started by the first call. A program may end while it idles. */
export class IndexThread {
  readonly #path: string
  readonly #file: URL
  readonly #waiting = new Map<number, Waiting>()
  #worker: Promise<Worker> | undefined
  #calls = 0
  #closed = false

  /** `file` is the module that the thread runs. */
  constructor(path: string, file: URL) {
    this.#path = path
    this.#file = file
  }

  get started(): boolean {
    return this.#worker !== undefined
  }

  /** Throws `SESSION_QUERY_INDEX_FAILED` and `BeganAnew`. */
  async ask<Kind extends keyof Calls>(kind: Kind, ask: Calls[Kind][0]): Promise<Calls[Kind][1]> {
    if (this.#closed) throw failed('this process is ending')
    const worker = await (this.#worker ??= this.#start())
    const number = ++this.#calls
    worker.ref()
    worker.postMessage({ number, kind, ask } as Call)
    return new Promise((resolve, reject) => this.#waiting.set(number, { resolve, reject }))
  }

  async close(): Promise<void> {
    if (this.#closed || !this.#worker) return void (this.#closed = true)
    try {
      const worker = await this.#worker
      const gone = new Promise((resolve) => worker.once('exit', resolve))
      const closed = this.ask('close', {})
      this.#closed = true
      await Promise.allSettled([closed, gone])
    } catch {
      // A thread that could not be started has nothing to close.
      this.#closed = true
    }
  }

  async #start(): Promise<Worker> {
    try {
      const { Worker } = await import('node:worker_threads')
      const worker = new Worker(this.#file, { workerData: this.#path, execArgv: [], name: 'index' })
      worker.on('message', (answer: Answer) => this.#settle(worker, answer))
      worker.on('error', (error) => this.#fail(String(error)))
      worker.on('exit', () => this.#fail('its thread has ended'))
      return worker
    } catch (error) {
      this.#worker = undefined
      throw failed(String(error))
    }
  }

  #settle(worker: Worker, answer: Answer): void {
    const waiting = this.#waiting.get(answer.number)
    this.#waiting.delete(answer.number)
    if ('value' in answer) waiting?.resolve(answer.value as never)
    else waiting?.reject(answer.again ? new BeganAnew(answer.failed) : failed(answer.failed))
    if (this.#waiting.size === 0 && !this.#closed) worker.unref()
  }

  /** The next call starts another one. */
  #fail(reason: string): void {
    this.#worker = undefined
    for (const { reject } of this.#waiting.values()) reject(failed(reason))
    this.#waiting.clear()
  }
}

function failed(reason: string): Error {
  return indexError('SESSION_QUERY_INDEX_FAILED', { reason })
}
