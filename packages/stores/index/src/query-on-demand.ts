import type { SearchRequest, SessionQuery } from '@cordage/core/store'
import type { IndexedQuery, QueryOptions } from './session-query.ts'

/** Loaded by the first call: most processes search nothing. */
export class QueryOnDemand implements SessionQuery {
  readonly #options: QueryOptions
  #loaded: Promise<IndexedQuery> | undefined

  constructor(options: QueryOptions) {
    this.#options = options
  }

  async sessions(request: SearchRequest) {
    return (await this.#query()).sessions(request)
  }

  async events(request: SearchRequest) {
    return (await this.#query()).events(request)
  }

  async trace(id: string) {
    return (await this.#query()).trace(id)
  }

  async read(id: string, range: { readonly from: number; readonly to: number }) {
    return (await this.#query()).read(id, range)
  }

  async rebuild() {
    return (await this.#query()).rebuild()
  }

  async catchUp() {
    return (await this.#query()).catchUp()
  }

  async forget(id: string) {
    return (await this.#query()).forget(id)
  }

  async close() {
    await (await this.#loaded)?.close()
    await this.#options.thread.close()
  }

  #query(): Promise<IndexedQuery> {
    this.#loaded ??= import('./session-query.ts').then(({ IndexedQuery }) => {
      return new IndexedQuery(this.#options)
    })
    return this.#loaded
  }
}
