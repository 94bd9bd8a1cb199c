import { type HarnessError, isHarnessError } from '../error/index.ts'
import { modelError, type modelErrors } from './errors.ts'

/** What a server answered instead of a stream. `body` is parsed JSON, or text, and stays here. */
export interface HttpFailure {
  /** Absent for an error object inside a successful stream. */
  readonly status?: number | undefined
  readonly body?: unknown
  readonly header?: (name: string) => string | null | undefined
}

/** The route that failed, for messages. */
export interface FailingRoute {
  /** `<provider>/<model id>`, or the provider alone. */
  readonly model: string
  readonly url: string
  /** The key that was sent: servers may send it back. */
  readonly secret?: string | undefined
}

type Code = keyof typeof modelErrors

const CONTEXT = new RegExp(
  'context.?(length|window)|maximum context|prompt is too long|input is too long|' +
    'too many (input )?tokens|exceed.{0,40}(context|token limit)|reduce the length|' +
    'context size|上下文.{0,10}(超|过长)|(超|最大).{0,10}上下文',
  'i',
)
const QUOTA =
  /insufficient.?(quota|balance|funds|credit)|credit balance|billing|exceeded your.*quota/i
const FILTER =
  /content.?(filter|policy|management)|content_policy_violation|safety (system|policy)/i
const MODEL =
  /model.{0,80}(not.?found|does not exist|not exist|unknown|unsupported|not supported)|model_not_found/i
const RATE = /rate.?limit|too many requests/i
const OVERLOAD = /overloaded|server.?error|api_error|internal.?error|unavailable/i
const AUTHENTICATION = /authentication|invalid.{0,10}api.?key|permission|unauthori[sz]ed/i
const KIND_WORDS = new Set(
  (
    'access account api auth authentication authorization bad balance billing blocked budget ' +
    'capacity concurrency concurrent conflict connection content context country credit credits ' +
    'deactivated denied deployment disabled encrypted engine error exceed exceeded exist exists ' +
    'expired failed failure field filter filtered forbidden format found gateway hard hit image ' +
    'images incorrect input insufficient internal invalid key large length limit limits long many ' +
    'max maximum message messages method missing model not notfound of organization out output ' +
    'overloaded parameter payment permission policy processing project prompt quota rate reached ' +
    'reasoning region request requests required resource response safety schema server service ' +
    'size slow some string system temporarily time timed timeout token tokens too tool tools type ' +
    'unauthorized unavailable unknown unprocessable unsupported upstream usage user validation ' +
    'value violation window'
  ).split(' '),
)
const REASONING =
  /signature|encrypted.?content|thinking.{0,40}block|reasoning_content|reasoning.{0,20}item|of type .{0,2}reasoning|'rs_/i
/** Names of failures that stay until somebody does something about a certificate, and what. */
const CERTIFICATES: readonly (readonly [RegExp, string])[] = [
  [/EXPIRED|NOT_YET_VALID/, 'see its dates and the clock of this machine'],
  [/ALTNAME|HOSTNAME/, 'it is for another name'],
  [/CERT|UNABLE_TO_(GET_ISSUER|VERIFY)/, 'trust its authority with NODE_EXTRA_CA_CERTS'],
]
const FIELD = /max_(completion_)?tokens/

/**
 * The error for a refused request, without a word of the body. In `details`: `retryAfterMs`, and
 * `rejected: reasoning` where the server takes no longer what it once said.
 */
export function normaliseHttp(route: FailingRoute, failure: HttpFailure): HarnessError {
  if (failure.status === 407) return wantsProxyCredential(route)
  const text = readText(failure.body)
  const code = classify(failure.status ?? readStatus(failure.body), text)
  const retryAfterMs = failure.header && readRetryAfter(failure.header)
  const kind = readKind(failure.body)
  const rejected = code === 'INVALID_REQUEST' && REASONING.test(text) ? 'reasoning' : undefined
  const details = {
    url: route.url,
    ...(rejected === undefined ? {} : { rejected }),
    ...(failure.status === undefined ? {} : { status: failure.status }),
    ...(kind === undefined ? {} : { kind }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  }
  const reason = describeFailure(failure.status, kind, code, text)
  return modelError(code, { model: route.model, reason }, { details })
}

/**
 * The error for what a client or a socket threw, whose own name of it (`ECONNREFUSED`) is `word`
 * of the details. `streaming` says whether the answer had begun.
 */
export function normaliseThrown(
  route: FailingRoute,
  error: unknown,
  streaming: boolean,
): HarnessError {
  const known = causes(error).find((cause) => isHarnessError(cause))
  if (known) return known
  const refusal = readRefusal(error)
  if (refusal) return normaliseHttp(route, refusal)
  const proxied = readProxyStatus(error)
  if (proxied === 407) return wantsProxyCredential(route)
  const word = findWord(error)
  const details = { url: route.url, word }
  const fail = (code: Code, reason: string) =>
    modelError(code, { model: route.model, reason }, { details })
  if (streaming && isMisread(error)) return fail('MALFORMED_RESPONSE', 'an unknown shape')
  if (/TIMED?_?OUT|TimeoutError/.test(word)) return fail('TIMEOUT', word)
  if (error instanceof SyntaxError) return fail('MALFORMED_RESPONSE', 'not JSON')
  if (word === 'AbortError') return fail('CANCELLED', word)
  if (streaming) return fail('STREAM_CLOSED', word)
  if (proxied !== undefined) return fail('TRANSPORT', `a proxy refused with HTTP ${proxied}`)
  const advice = CERTIFICATES.find(([names]) => names.test(word))?.[1]
  const reason = [word, route.url, advice].filter((part) => part !== undefined).join(', ')
  const options = { details, ...(advice === undefined ? {} : { retryable: false }) }
  return modelError('TRANSPORT', { model: route.model, reason }, options)
}

/** Says so by status alone: what a proxy says besides is no word of the model's. */
function wantsProxyCredential({ model, url }: FailingRoute): HarnessError {
  const reason =
    'HTTP 407: a proxy wants a credential, given in HTTPS_PROXY or HTTP_PROXY as http://name:password@host'
  const options = { details: { url, status: 407 }, retryable: false }
  return modelError('TRANSPORT', { model, reason }, options)
}

/**
 * What a proxy refused with. `fetch` keeps a 407 from its caller by the standard, and is left with
 * a cause that says nothing at all; a refused tunnel has the status in its words.
 */
function readProxyStatus(error: unknown): number | undefined {
  const chain = causes(error)
  const last = chain.at(-1)
  const isMute = last?.message === '' && last.name === 'Error' && !('code' in last)
  if (isMute && chain.at(-2)?.message === 'fetch failed') return 407
  for (const { message } of chain) {
    const [, status] = /^Proxy response \((\d{3})\)/.exec(message) ?? []
    if (status !== undefined) return Number(status)
  }
  return undefined
}

/**
 * Milliseconds that a server asks to wait, from either header; `undefined` where it makes no sense.
 * A date is taken by the clock of the server, which need not be right.
 */
export function readRetryAfter(
  header: (name: string) => string | null | undefined,
): number | undefined {
  const exact = Number.parseFloat(header('retry-after-ms') ?? '')
  if (Number.isFinite(exact) && exact >= 0) return Math.round(exact)
  const value = header('retry-after')?.trim() ?? ''
  if (/^\d+(\.\d+)?$/.test(value)) return Math.round(Number(value) * 1_000)
  const date = /[a-z]/i.test(value) ? Date.parse(value) : Number.NaN
  const now = Date.parse(header('date') ?? '')
  return Number.isNaN(date) ? undefined : Math.max(0, date - (Number.isNaN(now) ? Date.now() : now))
}

function classify(status: number | undefined, text: string): Code {
  if (QUOTA.test(text)) return 'QUOTA'
  if (status === undefined || status < 300) return classifyText(text)
  if (status === 401) return 'AUTH'
  if (status === 402) return 'QUOTA'
  if (status === 403) return FILTER.test(text) ? 'CONTENT_FILTERED' : 'AUTH'
  if (status === 404) return MODEL.test(text) ? 'UNKNOWN_MODEL' : 'INVALID_REQUEST'
  if (status === 408) return 'TIMEOUT'
  if (status === 413) return 'CONTEXT_WINDOW_EXCEEDED'
  if (status === 429) return 'RATE_LIMIT'
  if (CONTEXT.test(text)) return 'CONTEXT_WINDOW_EXCEEDED'
  if (status >= 500 || status === 409 || status === 425) return 'SERVER'
  if (FILTER.test(text)) return 'CONTENT_FILTERED'
  if (MODEL.test(text)) return 'UNKNOWN_MODEL'
  return AUTHENTICATION.test(text) ? 'AUTH' : 'INVALID_REQUEST'
}

function classifyText(text: string): Code {
  if (CONTEXT.test(text)) return 'CONTEXT_WINDOW_EXCEEDED'
  if (RATE.test(text)) return 'RATE_LIMIT'
  if (OVERLOAD.test(text)) return 'SERVER'
  if (FILTER.test(text)) return 'CONTENT_FILTERED'
  if (MODEL.test(text)) return 'UNKNOWN_MODEL'
  if (AUTHENTICATION.test(text)) return 'AUTH'
  return /invalid_request/i.test(text) ? 'INVALID_REQUEST' : 'SERVER'
}

// A body is read as far as classification needs it; a page of HTML may be megabytes.
function readText(body: unknown): string {
  const text = typeof body === 'string' ? body : (JSON.stringify(body) ?? '')
  return text.slice(0, 4_096)
}

// Some gateways pass on the status of another server as the code of an error object.
function readStatus(body: unknown): number | undefined {
  const code = field(field(body, 'error') ?? body, 'code')
  return typeof code === 'number' && code >= 400 && code < 600 ? code : undefined
}

// The machine-readable word of an error object, while it is made of words that servers use: an
// error object may hold anything, a key too.
function readKind(body: unknown): string | undefined {
  const error = field(body, 'error') ?? body
  const words = [field(error, 'code'), field(error, 'type')]
  return words.find((word): word is string => {
    return typeof word === 'string' && word.split(/[_.]/).every((part) => KIND_WORDS.has(part))
  })
}

function field(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Record<string, unknown>)[key]
    : undefined
}

function describeFailure(
  status: number | undefined,
  kind: string | undefined,
  code: Code,
  text: string,
): string {
  const parts = [status === undefined ? 'an error inside the answer' : `HTTP ${status}`, kind]
  if (code === 'INVALID_REQUEST' && status === 404) parts.push('nothing is at this base URL')
  const name = code === 'INVALID_REQUEST' ? FIELD.exec(text)?.[0] : undefined
  if (code === 'INVALID_REQUEST' && REASONING.test(text)) {
    parts.push('about the reasoning that was sent back')
  }
  if (name) parts.push(`about ${name}: see compat.maxTokensField`)
  return parts.filter((part) => part !== undefined).join(', ')
}

// Clients throw the error object that they met inside a stream as a member of their own error.
function readRefusal(error: unknown): HttpFailure | undefined {
  const body = field(error, 'error')
  if (body === undefined || body === null) return undefined
  const status = field(error, 'status')
  return { body, ...(typeof status === 'number' ? { status } : {}) }
}

// What reading an unexpected shape throws. `fetch` throws the same class, but with a cause, or a
// message of its own.
function isMisread(error: unknown): boolean {
  if (!(error instanceof TypeError || error instanceof RangeError)) return false
  if (error.cause !== undefined || 'code' in error) return false
  return !/^(terminated|fetch failed|network error)/i.test(error.message)
}

// The system's own name of a failure (ECONNREFUSED, CERT_HAS_EXPIRED), never its message.
function findWord(error: unknown): string {
  const chain = causes(error)
  if (chain.some((cause) => /Timeout/.test(cause.constructor.name))) return 'TimeoutError'
  for (const cause of chain) {
    const code = (cause as { code?: unknown }).code
    if (typeof code === 'string' && /^[A-Z][A-Z0-9_]+$/.test(code)) return code
  }
  const named = chain.find(({ name }) => name === 'AbortError' || name === 'TimeoutError')
  return named?.name ?? 'connection failed'
}

function causes(error: unknown): Error[] {
  const chain: Error[] = []
  for (let at = error; at instanceof Error && chain.length < 6; at = at.cause) chain.push(at)
  return chain
}
