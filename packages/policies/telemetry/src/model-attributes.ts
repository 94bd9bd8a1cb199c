import type { Attributes } from '@opentelemetry/api'
import type { Usage } from '@cordage/core/message'
import type { RequestHeader } from '@cordage/core/session'
import { names } from './conventions.ts'

export function modelAttributes(header: RequestHeader | undefined): Attributes {
  if (!header) return {}
  return { [names.provider]: header.provider, [names.requestModel]: header.model }
}

/** Host and port of an address; nothing else of it, which may hold what is nobody's business. */
export function serverAttributes(address: string | undefined): Attributes {
  if (address === undefined || !URL.canParse(address)) return {}
  const { hostname, port, protocol } = new URL(address)
  const usual = protocol === 'https:' ? 443 : 80
  return {
    [names.serverAddress]: hostname,
    [names.serverPort]: port === '' ? usual : Number(port),
  }
}

export function usageAttributes(usage: Usage | undefined): Attributes {
  if (!usage) return {}
  const { cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage
  return {
    [names.inputTokens]: usage.inputTokens,
    [names.outputTokens]: usage.outputTokens,
    ...(cacheReadTokens === undefined ? {} : { [names.cacheReadTokens]: cacheReadTokens }),
    ...(cacheWriteTokens === undefined ? {} : { [names.cacheWriteTokens]: cacheWriteTokens }),
    ...(reasoningTokens === undefined ? {} : { [names.reasoningTokens]: reasoningTokens }),
  }
}
