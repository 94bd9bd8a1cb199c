import { storeError, type SessionLog, type Store } from '@cordage/core/store'
import { FaultyLog } from './faulty-log.ts'

/** A disk that refuses what it is given to write, or is silent, until it is told to go on. */
export class HangingDisk {
  readonly #logs = new Set<FaultyLog>()
  #hung: PromiseWithResolvers<void> | undefined
  #failure: unknown

  get isHung(): boolean {
    return this.#hung !== undefined
  }

  hang(): void {
    this.#hung ??= Promise.withResolvers<void>()
    for (const log of this.#logs) log.gate = this.#hung.promise
  }

  fill(): void {
    this.#failure = storeError('STORE_WRITE_FAILED', { id: 'any', reason: 'no space' })
    for (const log of this.#logs) log.fail = this.#failure
  }

  goOn(): void {
    this.#failure = undefined
    for (const log of this.#logs) log.fail = undefined
    this.#hung?.resolve()
    this.#hung = undefined
    for (const log of this.#logs) log.gate = undefined
  }

  log(inner: SessionLog): FaultyLog {
    const log = new HangingLog(inner, () => this.#logs.delete(log))
    log.gate = this.#hung?.promise
    log.fail = this.#failure
    this.#logs.add(log)
    return log
  }

  store(store: Store): Store {
    return new Proxy(store, {
      get: (_, key) => {
        const member: unknown = Reflect.get(store, key, store)
        if (typeof member !== 'function') return member
        if (key !== 'create' && key !== 'open') return member.bind(store)
        return async (...args: unknown[]) => this.log(await member.apply(store, args))
      },
    })
  }
}

class HangingLog extends FaultyLog {
  readonly #ended: () => void

  constructor(inner: SessionLog, ended: () => void) {
    super(inner)
    this.#ended = ended
  }

  override async putBlob(bytes: Uint8Array) {
    await this.gate
    return super.putBlob(bytes)
  }

  override async close() {
    await this.gate
    this.#ended()
    await super.close()
  }
}
