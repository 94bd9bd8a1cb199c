import { modelError } from './errors.ts'
import type { ModelEvent } from './event.ts'
import { type FailingRoute, normaliseHttp, normaliseThrown } from './normalise.ts'
import { parseBody } from './response.ts'

/** How long a connection may take to end once its answer is whole. */
const MAX_DRAIN_MS = 1_000

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

/** An event of server-sent events, as the decoder of an SDK gives it. */
export interface ServerEvent {
  readonly event: string | null
  readonly data: string
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
  open: (signal: AbortSignal) => Promise<AsyncIterable<ServerEvent>>,
  reader: AnswerReader<Chunk>,
  signal: AbortSignal,
): AsyncIterable<ModelEvent> {
  const own = new AbortController()
  const both = AbortSignal.any([signal, own.signal])
  const events = await guardRequest(route, () => open(both), signal)
  const iterator = events[Symbol.asyncIterator]()
  let rest: Promise<unknown> | undefined
  try {
    for (;;) {
      const { done, value } = await iterator.next()
      if (done || value.data.startsWith('[DONE]')) break
      const chunk = await readData(route, value, iterator)
      if (chunk === undefined) continue
      for (const event of reader.read(chunk as Chunk)) yield event
      if (reader.over) break
    }
    rest = drain(iterator, own)
  } catch (error) {
    signal.throwIfAborted()
    throw normaliseThrown(route, error, true)
  } finally {
    // Whoever leaves early wants no more of it.
    if (!rest) own.abort()
  }
  // SDKs end quietly when they are aborted: that is not the end of an answer.
  signal.throwIfAborted()
  yield* reader.end()
}

/** What one event says; `undefined` where it says nothing. */
async function readData(
  route: FailingRoute,
  { event, data }: ServerEvent,
  iterator: AsyncIterator<ServerEvent>,
): Promise<unknown> {
  if (data === '') return undefined
  const value = parseBody(data)
  if (value === data) {
    if (event === 'error') throw normaliseHttp(route, { body: data })
    // The last event of a stream that was cut is cut as well.
    const cut = !/[}\]]\s*$/.test(data) && (await iterator.next()).done
    const code = cut ? 'STREAM_CLOSED' : 'MALFORMED_RESPONSE'
    throw modelError(code, { model: route.model, reason: 'not JSON' }, detailsOf(route))
  }
  const error = typeof value === 'object' && value !== null && 'error' in value && value.error
  if (error) throw normaliseHttp(route, { body: value })
  return value
}

/** Reads on to the end, after which the connection can be used again, but waits for nobody. */
async function drain(iterator: AsyncIterator<ServerEvent>, own: AbortController): Promise<void> {
  const timer = setTimeout(() => own.abort(), MAX_DRAIN_MS)
  timer.unref()
  try {
    while (!(await iterator.next()).done);
  } catch {
    // The answer is whole: how its connection ends makes no difference.
  } finally {
    clearTimeout(timer)
  }
}

function detailsOf({ url }: FailingRoute) {
  return { details: { url } }
}
