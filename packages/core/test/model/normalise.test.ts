import { exitOfCode, toExitCode } from '@cordage/core/error'
import { modelErrors, normaliseHttp, normaliseThrown, readRetryAfter } from '@cordage/core/model'
import { describe, expect, it } from 'vitest'

const route = { model: 'hub/m', url: 'http://hub/v1/x' }
const header = (values: Record<string, string>) => (name: string) => values[name]

const system = (code: string) => Object.assign(new Error('secret text'), { code })
const exit = (status: number) => toExitCode(normaliseHttp(route, { status, body: '' }))
const told = (type: unknown) =>
  normaliseHttp(route, { status: 400, body: { error: { type } } }).message

describe('readRetryAfter', () => {
  const date = 'Thu, 01 Jan 2026 00:00:00 GMT'
  it.each([
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': '120' }, 120_000],
    [{ 'retry-after': '1.5' }, 1_500],
    [{ 'retry-after-ms': '250', 'retry-after': '9' }, 250],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:01:00 GMT' }, 60_000],
    [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, 0],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '-5' }, undefined],
    [{}, undefined],
  ] as [Record<string, string>, number | undefined][])('reads %j as %s ms', (values, wait) => {
    expect(readRetryAfter(header({ ...values, date }))).toBe(wait)
  })

  it('counts from now where a server has no clock', () => {
    const past = { 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }
    const far = { 'retry-after': 'Fri, 31 Dec 9999 00:00:00 GMT' }
    expect(readRetryAfter(header(past))).toBe(0)
    expect(readRetryAfter(header(far))).toBeGreaterThan(1_000_000)
  })
})

describe('normaliseHttp', () => {
  it('shows the machine-readable word of a body only while it looks like one', () => {
    expect(told('invalid_request_error')).toContain('invalid_request_error')
    expect(told('Key sk-123 is wrong')).not.toContain('sk-123')
    expect(told({ a: 1 })).toContain('HTTP 400')
  })

  it('names the switch when a server refuses the field of the output limit', () => {
    const message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    const error = normaliseHttp(route, { status: 400, body: { error: { message } } })
    expect(error).toMatchObject({ code: 'INVALID_REQUEST' })
    expect(error.message).toContain('compat.maxTokensField')
  })

  it('says where an endpoint was looked for when there is none', () => {
    const error = normaliseHttp(route, { status: 404, body: '404 page not found' })
    expect(error).toMatchObject({ code: 'INVALID_REQUEST', details: { url: route.url } })
    expect(error.message).toContain('base URL')
  })

  it('ends a process with the code of its kind', () => {
    expect([401, 402, 429, 500].map(exit)).toEqual([77, 75, 75, 75])
    expect([400, 413].map(exit)).toEqual([1, 1])
  })

  it('says that trying again later may help of no failure that stays as it is', () => {
    const later = Object.keys(modelErrors).filter((code) => exitOfCode(code) === 75)
    const mayPass = Object.entries(modelErrors).filter(([, spec]) => 'retryable' in spec)
    expect(later.sort()).toEqual([...mayPass.map(([code]) => code), 'QUOTA'].sort())
  })
})

describe('normaliseThrown', () => {
  it.each([
    [system('ECONNREFUSED'), 'TRANSPORT', 'STREAM_CLOSED'],
    [new TypeError('fetch failed', { cause: system('ENOTFOUND') }), 'TRANSPORT', 'STREAM_CLOSED'],
    [
      new TypeError('fetch failed', { cause: system('CERT_HAS_EXPIRED') }),
      'TRANSPORT',
      'STREAM_CLOSED',
    ],
    [new TypeError('x', { cause: system('UND_ERR_HEADERS_TIMEOUT') }), 'TIMEOUT', 'TIMEOUT'],
    [system('ETIMEDOUT'), 'TIMEOUT', 'TIMEOUT'],
    [new SyntaxError('secret text'), 'MALFORMED_RESPONSE', 'MALFORMED_RESPONSE'],
    [new DOMException('secret text', 'AbortError'), 'CANCELLED', 'CANCELLED'],
    ['secret text', 'TRANSPORT', 'STREAM_CLOSED'],
    [new TypeError('terminated'), 'TRANSPORT', 'STREAM_CLOSED'],
    [new TypeError('x is not iterable'), 'TRANSPORT', 'MALFORMED_RESPONSE'],
    [new RangeError('secret text'), 'TRANSPORT', 'MALFORMED_RESPONSE'],
  ])('names %s %s before and %s inside an answer', (error, before, inside) => {
    const found = [false, true].map((streaming) => normaliseThrown(route, error, streaming))
    expect(found.map(({ code }) => code)).toEqual([before, inside])
    expect(found.map(({ message }) => message).join()).not.toContain('secret text')
  })

  it.each([
    ['CERT_HAS_EXPIRED', 'clock'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'another name'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'NODE_EXTRA_CA_CERTS'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'NODE_EXTRA_CA_CERTS'],
  ])('says of %s what would help, and that trying again would not', (code, help) => {
    const thrown = new TypeError('fetch failed', { cause: system(code) })
    const error = normaliseThrown(route, thrown, false)
    expect(error).toMatchObject({ code: 'TRANSPORT', retryable: false })
    expect(error.message).toContain(help)
  })

  it('tells a proxy that wants a credential from one that refuses, in a tunnel and outside', () => {
    const tunnel = (status: number) => {
      const words = `Proxy response (${status}) !== 200 when HTTP Tunneling`
      const cause = new Error('cancelled', { cause: new Error(words) })
      return normaliseThrown(route, new TypeError('fetch failed', { cause }), false)
    }
    const outside = new TypeError('fetch failed', { cause: new Error() })
    for (const error of [
      tunnel(407),
      normaliseThrown(route, outside, false),
      normaliseHttp(route, { status: 407, body: 'secret text' }),
    ]) {
      expect(error).toMatchObject({ code: 'TRANSPORT', retryable: false, details: { status: 407 } })
      expect(error.message).toContain('a proxy wants a credential')
    }
    expect(tunnel(502)).toMatchObject({ code: 'TRANSPORT', retryable: true })
    expect(tunnel(502).message).toContain('a proxy refused with HTTP 502')
  })

  it('keeps an error of ours that a client wrapped', () => {
    const own = normaliseHttp(route, { status: 429, body: '' })
    expect(normaliseThrown(route, new Error('Connection error.', { cause: own }), false)).toBe(own)
  })
})
