import type { HarnessError } from '../error/index.ts'
import { failModel } from './errors.ts'
import { type FailingRoute, normaliseHttp, normaliseThrown } from './normalise.ts'

const MAX_BODY = 64 * 1024

/**
 * Passes on a response that is an event stream. Anything else becomes the error it stands for:
 * a refusal, an error object or a web page with status 200, an answer that is not streamed.
 */
export async function expectEventStream(
  route: FailingRoute,
  response: Response,
): Promise<Response> {
  const type = response.headers.get('content-type')?.toLowerCase() ?? ''
  if (response.ok && !/json|html|text\/plain/.test(type)) return response
  const text = await readBounded(response)
  const body = parse(text)
  const header = (name: string) => response.headers.get(name)
  if (!response.ok) throw normaliseHttp(route, { status: response.status, body, header })
  if (typeof body === 'object' && body !== null && 'error' in body) {
    throw normaliseHttp(route, { body, header })
  }
  const reason = `${/html/.test(type) ? 'a web page' : 'no event stream'} instead of an answer`
  throw failModel(
    'MALFORMED_RESPONSE',
    { provider: route.provider, reason },
    { details: { url: route.url } },
  )
}

/**
 * `events` with a limit on the wait for each. Ends the source when the consumer leaves, throws
 * the reason of `signal` when it was cancelled, and normalises every other failure.
 */
export async function* guardEvents<T>(
  route: FailingRoute,
  events: AsyncIterable<T>,
  options: { signal: AbortSignal; idleTimeoutMs: number; abort: (reason: unknown) => void },
): AsyncIterable<T> {
  const { signal, idleTimeoutMs, abort } = options
  let late: HarnessError | undefined
  const expire = () => {
    const reason = `nothing arrived for ${idleTimeoutMs} ms`
    late = failModel('TIMEOUT', { provider: route.provider, reason })
    abort(late)
  }
  let timer = setTimeout(expire, idleTimeoutMs)
  try {
    for await (const event of events) {
      timer.refresh()
      yield event
      timer.refresh()
    }
  } catch (error) {
    signal.throwIfAborted()
    throw late ?? normaliseThrown(route, error, true)
  } finally {
    clearTimeout(timer)
  }
  // SDKs end quietly when they are aborted: that is not the end of an answer.
  signal.throwIfAborted()
  if (late) throw late
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
