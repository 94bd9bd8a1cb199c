import type { HarnessError } from '../error/index.ts'
import { modelError } from './errors.ts'
import { type FailingRoute, normaliseHttp } from './normalise.ts'

const MAX_BODY = 64 * 1024

/**
 * Passes on a response with a status of success; others become the error they stand for. To be
 * given responses of `redirect: 'manual'`: a conversation follows nobody to another address.
 */
export async function expectSuccess(route: FailingRoute, response: Response): Promise<Response> {
  if (response.ok) return response
  if (response.status >= 300 && response.status < 400) throw await redirected(route, response)
  const body = parseBody(await readBounded(response))
  const header = (name: string) => response.headers.get(name)
  throw normaliseHttp(route, { status: response.status, body, header })
}

async function redirected(route: FailingRoute, response: Response): Promise<HarnessError> {
  // The body is of no use, and the connection would stay open for it.
  await response.body?.cancel()
  const location = response.headers.get('location') ?? ''
  const origin = URL.canParse(location, route.url) ? new URL(location, route.url).origin : undefined
  // Whoever redirects may name a host after the key.
  const known = origin?.includes(route.secret?.toLowerCase() || ' ') === false
  const to = known ? ` to ${origin}` : ''
  const details = { url: route.url, status: response.status }
  return modelError(
    'INVALID_REQUEST',
    { model: route.model, reason: `redirected${to}` },
    { details },
  )
}

/** The headers of a request, all of them: an SDK would add some that tell who and where this is. */
export function requestHeaders(
  init: RequestInit | undefined,
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  const streams = isPost(init)
  return {
    accept: streams ? 'text/event-stream' : 'application/json',
    ...(streams ? { 'content-type': 'application/json' } : {}),
    ...own,
    'user-agent': 'cordage',
  }
}

/** Passes on the response to a request, an event stream for a POST; others become their errors. */
export function expectAnswer(
  route: FailingRoute,
  init: RequestInit | undefined,
  response: Response,
): Promise<Response> {
  return isPost(init) ? expectEventStream(route, response) : expectSuccess(route, response)
}

function isPost(init: RequestInit | undefined): boolean {
  return init?.method?.toUpperCase() === 'POST'
}

/**
 * Passes on a response that is an event stream, also one that says it is something else. The rest
 * becomes the error it stands for: a refusal, an error object or a web page with status 200, an
 * answer that is not streamed.
 */
export async function expectEventStream(
  route: FailingRoute,
  response: Response,
): Promise<Response> {
  const type = response.headers.get('content-type')?.toLowerCase() ?? ''
  await expectSuccess(route, response)
  if (!/json|html|text\/plain/.test(type)) return response
  const { start, again } = await peek(response)
  if (/^\uFEFF?\s*(data|event|id|retry)?:/.test(start)) return again
  const body = parseBody(await readBounded(again))
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

/** How the text of a response begins, and the response from its beginning again. */
async function peek(response: Response): Promise<{ start: string; again: Response }> {
  const reader = (response.body ?? new Response('').body!).getReader()
  const first = await reader.read()
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => (first.done ? controller.close() : controller.enqueue(first.value)),
    pull: async (controller) => {
      const { done, value } = await reader.read()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
  const { headers } = response
  return { start: new TextDecoder().decode(first.value), again: new Response(body, { headers }) }
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

/** The JSON of a text, or the text itself where it is none: that is classified by its words. */
export function parseBody(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Not JSON is the answer.
    return text
  }
}
