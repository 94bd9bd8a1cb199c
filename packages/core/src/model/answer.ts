import type { HarnessError } from '../error/index.ts'
import { modelError } from './errors.ts'
import type { ModelEvent } from './event.ts'
import { type FailingRoute, normaliseHttp, normaliseThrown } from './normalise.ts'

const MAX_BODY = 64 * 1024

/**
 * Passes on a response with a status of success; others become the error they stand for. To be
 * given responses of `redirect: 'manual'`: a conversation follows nobody to another address.
 */
export async function expectSuccess(route: FailingRoute, response: Response): Promise<Response> {
  if (response.ok) return response
  if (response.status >= 300 && response.status < 400) throw await redirected(route, response)
  const body = parse(await readBounded(response))
  const header = (name: string) => response.headers.get(name)
  throw normaliseHttp(route, { status: response.status, body, header })
}

async function redirected(route: FailingRoute, response: Response): Promise<HarnessError> {
  // The body is of no use, and the connection would stay open for it.
  await response.body?.cancel()
  const location = response.headers.get('location') ?? ''
  const to = URL.canParse(location, route.url) ? ` to ${new URL(location, route.url).origin}` : ''
  const details = { url: route.url, status: response.status }
  return modelError(
    'INVALID_REQUEST',
    { model: route.model, reason: `redirected${to}` },
    { details },
  )
}

/**
 * Passes on a response that is an event stream. Anything else becomes the error it stands for:
 * a refusal, an error object or a web page with status 200, an answer that is not streamed.
 */
export async function expectEventStream(
  route: FailingRoute,
  response: Response,
): Promise<Response> {
  const type = response.headers.get('content-type')?.toLowerCase() ?? ''
  await expectSuccess(route, response)
  if (!/json|html|text\/plain/.test(type)) return response
  const text = await readBounded(response)
  const body = parse(text)
  if (typeof body === 'object' && body !== null && 'error' in body) {
    const header = (name: string) => response.headers.get(name)
    throw normaliseHttp(route, { body, header })
  }
  const reason = `${/html/.test(type) ? 'a web page' : 'no event stream'} instead of an answer`
  throw modelError(
    'MALFORMED_RESPONSE',
    { model: route.model, reason },
    { details: { url: route.url } },
  )
}

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
  read(chunk: Chunk): Iterable<ModelEvent>
  end(): Iterable<ModelEvent>
}

/**
 * Opens a stream and translates it. Throws the reason of `signal` once it is aborted and every
 * other failure normalised. One generator only: each layer costs a fifth of the throughput.
 */
export async function* streamAnswer<Chunk>(
  route: FailingRoute,
  open: () => Promise<AsyncIterable<Chunk>>,
  reader: AnswerReader<Chunk>,
  signal: AbortSignal,
): AsyncIterable<ModelEvent> {
  const chunks = await guardRequest(route, open, signal)
  try {
    for await (const chunk of chunks) for (const event of reader.read(chunk)) yield event
  } catch (error) {
    signal.throwIfAborted()
    throw normaliseThrown(route, error, true)
  }
  // SDKs end quietly when they are aborted: that is not the end of an answer.
  signal.throwIfAborted()
  yield* reader.end()
}

async function readBounded(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > MAX_BODY) break
  }
  return text
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // A body that is not JSON is classified by its text.
    return text
  }
}
