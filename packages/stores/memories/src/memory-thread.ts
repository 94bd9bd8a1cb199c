import { extname } from 'node:path'
import { MessageChannel, Worker } from 'node:worker_threads'
import { describeFailure } from '@cordage/core/kernel'
import type { Answer, Calls } from './calls.ts'
import { memoriesError } from './errors.ts'

/**
 * The thread that holds the database; started by the first call. Each call has a channel of its
 * own, which keeps the process alive until it is answered or the thread has ended.
 */
export class MemoryThread {
  readonly #path: string
  readonly #setAside: (aside: string) => void
  #worker: Worker | undefined
  #ended = Promise.resolve<Answer>({ failed: 'it has no thread' })
  #closed = false

  /** `setAside` is told where a file went that was spoiled. */
  constructor(path: string, setAside: (aside: string) => void) {
    this.#path = path
    this.#setAside = setAside
  }

  /** Throws `MEMORIES_FAILED`. */
  async ask<Kind extends keyof Calls>(kind: Kind, ask: Calls[Kind][0]): Promise<Calls[Kind][1]> {
    if (this.#closed) throw this.#failure('this process is ending')
    const answer = await this.#send(kind, ask)
    if ('failed' in answer) throw this.#failure(answer.failed)
    if (answer.aside !== undefined) this.#setAside(answer.aside)
    return answer.value as Calls[Kind][1]
  }

  async close(): Promise<void> {
    // Nothing else keeps a process that ends until the thread has let go of the file.
    this.#worker?.ref()
    const closed = this.#worker && this.ask('close', {})
    this.#closed = true
    await Promise.allSettled([closed, this.#ended])
  }

  async #send(kind: keyof Calls, ask: unknown): Promise<Answer> {
    const { port1, port2 } = new MessageChannel()
    try {
      this.#worker ??= this.#start()
      this.#worker.postMessage({ kind, ask, port: port2 }, [port2])
      const answered = new Promise<Answer>((resolve) => port1.once('message', resolve))
      return await Promise.race([answered, this.#ended])
    } catch (error) {
      return { failed: describeFailure(error) }
    } finally {
      port1.close()
    }
  }

  #start(): Worker {
    // Sources run as they are; the packed product has the same file next to this one.
    const file = new URL(`./memory-worker${extname(import.meta.url)}`, import.meta.url)
    const worker = new Worker(file, { workerData: this.#path, execArgv: [], name: 'memories' })
    let reason = 'its thread has ended'
    worker.on('error', (error) => (reason = describeFailure(error)))
    this.#ended = new Promise((resolve) => {
      worker.once('exit', () => {
        // The next call starts another one.
        this.#worker = undefined
        resolve({ failed: reason })
      })
    })
    worker.unref()
    return worker
  }

  #failure(reason: string): Error {
    return memoriesError('MEMORIES_FAILED', { path: this.#path, reason })
  }
}
