import {
  expectEventStream,
  expectSuccess,
  type FailingRoute,
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
  const apiKey = access.apiKey()
  return new Client({
    baseURL: access.baseURL(),
    // The SDK wants a key in any case; what is sent is decided in `send`.
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
    fetch: (url, init) => send(url, init, apiKey, failing),
  })
}

const silent = { error: ignore, warn: ignore, info: ignore, debug: ignore }

function ignore(): void {}

async function send(
  url: string | URL | Request,
  init: RequestInit | undefined,
  apiKey: string | undefined,
  failing: FailingRoute,
): Promise<Response> {
  const streams = init?.method?.toUpperCase() === 'POST'
  const headers = {
    accept: streams ? 'text/event-stream' : 'application/json',
    ...(streams ? { 'content-type': 'application/json' } : {}),
    ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    'user-agent': 'cordage',
  }
  const response = await fetch(url, { ...init, headers, redirect: 'manual' })
  return streams ? expectEventStream(failing, response) : expectSuccess(failing, response)
}
