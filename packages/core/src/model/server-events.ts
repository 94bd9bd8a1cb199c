/** An event of server-sent events; `event` is its name, where it has one. */
export interface ServerEvent {
  readonly event: string | null
  readonly data: string
}

/**
 * Reads server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html), all
 * that a chunk completes at once: the decoders of the SDKs take a turn of the microtask queue or
 * more for each, which is most of what a small delta costs.
 */
export class ServerEvents {
  readonly #decoder = new TextDecoder()
  /** The line that has begun; joined only once it is whole, however many chunks it takes. */
  #line = ''
  /** The last chunk ended with a carriage return: a line feed after it ends the same line. */
  #returned = false
  #event: string | null = null
  #data: string | undefined

  push(bytes: Uint8Array): ServerEvent[] {
    return this.#read(this.#decoder.decode(bytes, { stream: true }))
  }

  /** Characters of the event that has begun and is not whole. */
  get waiting(): number {
    return this.#line.length + (this.#data?.length ?? 0)
  }

  /** What is left once the stream is over: servers leave out the empty line after the last event. */
  end(): ServerEvent[] {
    return this.#read(`${this.#decoder.decode()}\n\n`)
  }

  #read(chunk: string): ServerEvent[] {
    const text = this.#withLineFeeds(chunk)
    const events: ServerEvent[] = []
    let from = 0
    for (let to = text.indexOf('\n'); to >= 0; to = text.indexOf('\n', from)) {
      const line = this.#line + text.slice(from, to)
      this.#line = ''
      from = to + 1
      if (line !== '') this.#take(line)
      else if (this.#data !== undefined || this.#event !== null) events.push(this.#close())
    }
    this.#line += text.slice(from)
    return events
  }

  #withLineFeeds(chunk: string): string {
    if (chunk === '') return chunk
    const text = this.#returned && chunk.startsWith('\n') ? chunk.slice(1) : chunk
    this.#returned = chunk.endsWith('\r')
    return text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text
  }

  #take(line: string): void {
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (name === 'data') this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`
    if (name === 'event') this.#event = value
  }

  #close(): ServerEvent {
    const closed = { event: this.#event, data: this.#data ?? '' }
    this.#event = null
    this.#data = undefined
    return closed
  }
}
