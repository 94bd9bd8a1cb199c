import { modelError } from './errors.ts'
import type { ModelEvent } from './event.ts'
import { type FailingRoute, normaliseHttp, normaliseThrown } from './normalise.ts'
import { parseBody } from './response.ts'
import { type ServerEvent, ServerEvents } from './server-events.ts'

/** How long a connection may take to end once its answer is whole. */
const MAX_DRAIN_MS = 1_000
/** More of one event is never kept. */
const MAX_EVENT_CHARACTERS = 32 * 1024 * 1024

/** The result of `send`, with the reason of `signal` once it is aborted, else normalised errors. */
export async function guardRequest<T>(
  route: FailingRoute,
  send: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  try {
    signal.throwIfAborted()
    return await send()
  } catch (error) {
    signal.throwIfAborted()
    throw normaliseThrown(route, error, false)
  }
}

/** Turns what a protocol sends into events of ours; `end` says what is left when it is over. */
export interface AnswerReader<Chunk> {
  /** The protocol's last event was read: what else comes is no part of the answer. */
  readonly over?: boolean
  read(chunk: Chunk): Iterable<ModelEvent>
  end(): Iterable<ModelEvent>
}

/**
 * Opens a stream and translates it. Throws the reason of `signal` once it is aborted and every
 * other failure normalised. One generator only: each layer costs a fifth of the throughput.
 */
export async function* streamAnswer<Chunk>(
  route: FailingRoute,
  open: (signal: AbortSignal) => Promise<Response>,
  reader: AnswerReader<Chunk>,
  signal: AbortSignal,
): AsyncIterable<ModelEvent> {
  const own = new AbortController()
  const both = AbortSignal.any([signal, own.signal])
  const response = await guardRequest(route, () => open(both), signal)
  const chunks = (response.body ?? new Response('').body!)[Symbol.asyncIterator]()
  const answer = new AnswerText(route, reader as AnswerReader<unknown>)
  let rest: Promise<unknown> | undefined
  try {
    while (!answer.over) {
      const { done, value } = await chunks.next()
      yield* joined(done ? answer.end() : answer.read(value))
      if (done) break
    }
    rest = drain(chunks, own)
  } catch (error) {
    signal.throwIfAborted()
    throw normaliseThrown(route, error, true)
  } finally {
    // Whoever leaves early wants no more of it.
    if (!rest) own.abort()
  }
  // A stream may end quietly when it is aborted: that is not the end of an answer.
  signal.throwIfAborted()
  yield* reader.end()
}

/** What the bytes of an answer say, until it is over. */
class AnswerText {
  readonly #route: FailingRoute
  readonly #reader: AnswerReader<unknown>
  readonly #events = new ServerEvents()
  #ended = false
  /** Half an event came: what is left of a stream that was cut, unless another one follows. */
  #cut = false

  constructor(route: FailingRoute, reader: AnswerReader<unknown>) {
    this.#route = route
    this.#reader = reader
  }

  get over(): boolean {
    return this.#ended || this.#reader.over === true
  }

  read(bytes: Uint8Array): Iterable<ModelEvent> {
    const events = this.#events.push(bytes)
    if (this.#events.waiting > MAX_EVENT_CHARACTERS) {
      throw this.#misread(`an event of more than ${MAX_EVENT_CHARACTERS} characters`)
    }
    return this.#translate(events)
  }

  end(): Iterable<ModelEvent> {
    return this.#translate(this.#events.end())
  }

  *#translate(events: readonly ServerEvent[]): Iterable<ModelEvent> {
    for (const event of events) {
      if (this.#cut) throw this.#misread()
      this.#ended ||= event.data.startsWith('[DONE]')
      if (this.over) return
      const chunk = this.#readData(event)
      if (chunk !== undefined) yield* this.#reader.read(chunk)
    }
  }

  /** What one event says; `undefined` where it says nothing. */
  #readData({ event, data }: ServerEvent): unknown {
    if (data === '') return undefined
    const value = parseBody(data)
    if (value === data) {
      if (event === 'error') throw normaliseHttp(this.#route, { body: data })
      this.#cut = !/[}\]]\s*$/.test(data)
      if (!this.#cut) throw this.#misread()
      return undefined
    }
    const error = typeof value === 'object' && value !== null && 'error' in value && value.error
    if (error) throw normaliseHttp(this.#route, { body: value })
    return value
  }

  #misread(reason = 'not JSON') {
    const { model, url } = this.#route
    return modelError('MALFORMED_RESPONSE', { model, reason }, { details: { url } })
  }
}

/** The same text in fewer events: what came together is passed on together. */
function* joined(events: Iterable<ModelEvent>): Iterable<ModelEvent> {
  let said: Said | undefined
  try {
    for (const event of events) {
      if (said && isSaid(event) && event.type === said.type) {
        said = { type: said.type, text: said.text + event.text }
        continue
      }
      if (said) yield said
      said = isSaid(event) ? event : undefined
      if (!said) yield event
    }
  } catch (error) {
    // What came before a failure was said all the same.
    if (said) yield said
    throw error
  }
  if (said) yield said
}

type Said = Extract<ModelEvent, { type: 'text' | 'reasoning' }>

function isSaid(event: ModelEvent): event is Said {
  return event.type === 'text' || (event.type === 'reasoning' && event.replay === undefined)
}

/** Reads on to the end, after which the connection can be used again, but waits for nobody. */
async function drain(chunks: AsyncIterator<unknown>, own: AbortController): Promise<void> {
  const timer = setTimeout(() => own.abort(), MAX_DRAIN_MS)
  timer.unref()
  try {
    while (!(await chunks.next()).done);
  } catch {
    // The answer is whole: how its connection ends makes no difference.
  } finally {
    clearTimeout(timer)
  }
}
