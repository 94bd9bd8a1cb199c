import {
  expectAnswer,
  type FailingRoute,
  requestHeaders,
  type RouteAccess,
} from '@cordage/core/model'
import type OpenAI from 'openai'

/**
 * A client that is configured by its arguments alone: every option is given, and the headers are
 * made here, because the SDK adds some from the environment that no option turns off.
 */
export async function openClient(
  access: RouteAccess,
  timeoutMs: number,
  failing: FailingRoute,
): Promise<OpenAI> {
  // Loading the SDK takes longer than everything else of a boot, so the first request does it.
  const { default: Client } = await import('openai')
  access.check()
  const apiKey = access.apiKey()
  const own: Record<string, string> =
    apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }
  return new Client({
    baseURL: access.baseURL(),
    // The SDK wants a key in any case; what is sent is decided in `fetch`.
    apiKey: apiKey ?? 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    dataResidency: null,
    timeout: timeoutMs,
    maxRetries: 0,
    defaultHeaders: {},
    defaultQuery: {},
    fetchOptions: {},
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
