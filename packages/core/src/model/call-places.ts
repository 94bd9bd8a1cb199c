/** Which call a piece belongs to: servers leave out the index, or give 0 to every call. */
export class CallPlaces {
  readonly #byIndex = new Map<number, number>()
  readonly #ids = new Map<number, string>()
  #last = -1
  #current: number | undefined

  /** The place of a new call, where a protocol says apart that one begins. */
  open(index: unknown, id: unknown): number {
    const place = (this.#last += 1)
    if (typeof index === 'number') this.#byIndex.set(index, place)
    return this.#take(place, id)
  }

  /** The place of a piece: that of its index or its id, else of the call before; a new one last. */
  of(index: unknown, id: unknown): number {
    const known = typeof index === 'number' ? this.#byIndex.get(index) : this.#placeOf(id)
    if (known === undefined || this.#contradicts(known, id)) return this.open(index, id)
    return this.#take(known, id)
  }

  #take(place: number, id: unknown): number {
    if (typeof id === 'string' && id !== '') this.#ids.set(place, id)
    return (this.#current = place)
  }

  #placeOf(id: unknown): number | undefined {
    if (typeof id !== 'string' || id === '') return this.#current
    return [...this.#ids].find(([, other]) => other === id)?.[0]
  }

  #contradicts(place: number, id: unknown): boolean {
    const known = this.#ids.get(place)
    return typeof id === 'string' && id !== '' && known !== undefined && known !== id
  }
}
