import { isHarnessError } from '@cordage/core/error'

/** Where a request to a model can end, from the person's own machine to the words of the model. */
export const layers = [
  'configuration',
  'credential',
  'dns',
  'connect',
  'tls',
  'proxy',
  'http',
  'protocol',
  'answer',
] as const

export type Layer = (typeof layers)[number]

type Env = Readonly<Record<string, string | undefined>>

const BY_CODE: Readonly<Record<string, Layer>> = {
  AUTH: 'credential',
  MALFORMED_RESPONSE: 'protocol',
  EMPTY_RESPONSE: 'answer',
  CONTENT_FILTERED: 'answer',
  PROBE_ANSWER_WRONG: 'answer',
}

const DNS = /^(ENOTFOUND|EAI_\w+|EDNS\w*)$/
const TLS = /CERT|TLS|SSL|SIGNED|UNABLE_TO_|EPROTO|ALTNAME/
const PROXY = /^UND_ERR_(ABORTED|PRX\w*)$/

/** The layer at which a request failed. `env` says whether a proxy stands before the server. */
export function layerOf(error: unknown, env: Env): Layer {
  if (!isHarnessError(error)) return 'configuration'
  const { status, url, word = '' } = error.details
  if (status === 407) return 'proxy'
  const known = error.code.startsWith('CREDENTIAL') ? 'credential' : BY_CODE[error.code]
  if (known) return known
  if (error.code === 'STREAM_CLOSED') return /^E[A-Z]+$/.test(String(word)) ? 'connect' : 'protocol'
  if (typeof status === 'number') return 'http'
  if (error.code === 'TRANSPORT' || error.code === 'TIMEOUT') {
    return layerOfSocket(String(word), isProxied(String(url), env))
  }
  // An error object inside an answer that began well.
  return typeof url === 'string' ? 'answer' : 'configuration'
}

function layerOfSocket(word: string, proxied: boolean): Layer {
  if (PROXY.test(word)) return 'proxy'
  if (TLS.test(word)) return proxied && word === 'EPROTO' ? 'proxy' : 'tls'
  if (/HEADERS_TIMEOUT|TimeoutError/.test(word)) return 'http'
  // With a proxy, names are its to find and connections are made to it alone.
  if (proxied) return 'proxy'
  return DNS.test(word) ? 'dns' : 'connect'
}

/** Whether a request to `url` goes to a proxy that the environment names. */
export function isProxied(url: string, env: Env): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname, host } = new URL(url)
  const name = protocol === 'https:' ? 'https_proxy' : 'http_proxy'
  if (!(env[name] ?? env[name.toUpperCase()])) return false
  const except = (env['no_proxy'] ?? env['NO_PROXY'] ?? '').split(/[\s,]+/).filter(Boolean)
  return !except.some((entry) => {
    const suffix = entry.replace(/^\*?\.?/, '')
    return entry === '*' || entry === host || hostname === suffix || hostname.endsWith(`.${suffix}`)
  })
}
