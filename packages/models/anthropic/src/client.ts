import type Anthropic from '@anthropic-ai/sdk'
import {
  expectAnswer,
  type FailingRoute,
  requestHeaders,
  type RouteAccess,
} from '@cordage/core/model'

const VERSION = '2023-06-01'

/**
 * A client that is configured by its arguments alone: every option is given, and the headers are
 * made here, because the SDK adds some from the environment that no option turns off.
 */
export async function openClient(
  access: RouteAccess,
  timeoutMs: number,
  failing: FailingRoute,
): Promise<Anthropic> {
  // Loading the SDK takes longer than everything else of a boot, so the first request does it.
  const { default: Client } = await import('@anthropic-ai/sdk')
  access.check()
  const apiKey = access.apiKey()
  const own = {
    'anthropic-version': VERSION,
    ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }),
  }
  return new Client({
    baseURL: access.baseURL(),
    // Without a key the SDK would look for profiles on the disk; what is sent is decided in `fetch`.
    apiKey: apiKey ?? 'none',
    webhookKey: null,
    timeout: timeoutMs,
    maxRetries: 0,
    defaultHeaders: {},
    defaultQuery: {},
    fetchOptions: {},
    middleware: [],
    openTelemetry: false,
    dangerouslyAllowBrowser: true,
    logLevel: 'off',
    logger: silent,
    fetch: async (url, init) => {
      const headers = requestHeaders(init, own)
      const response = await fetch(url, { ...init, headers, redirect: 'manual' })
      return expectAnswer({ ...failing, secret: apiKey }, init, response)
    },
  })
}

const silent = { error: ignore, warn: ignore, info: ignore, debug: ignore }

function ignore(): void {}
