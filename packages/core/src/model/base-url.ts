/** What people copy out of the documents of a server: the address of one endpoint of it. */
const ENDPOINT = /\/(v1\/messages|messages|chat\/completions|completions|responses|models)\/*$/

/**
 * Why a text is no base URL, with what would be one, or nothing. Never tells what is behind a `?` or
 * before an `@`: keys are put there. `api` is the protocol, where it is known.
 */
export function wrongInBaseURL(text: string, api?: string): string | undefined {
  if (!URL.canParse(text) || /\s/.test(text)) return 'is no URL: give one like https://host/v1'
  const { protocol, username, password, search, hash, origin, pathname } = new URL(text)
  if (!/^https?:$/.test(protocol)) return `begins with ${protocol}//: give one with https or http`
  if (username || password) return 'has a user or a password in it: give the key as apiKeyEnv'
  if (search || hash) return `has something behind its path: give ${origin}${pathname}`
  const base = `${origin}${pathname}`
  if (ENDPOINT.test(base)) return `is that of one endpoint: give ${base.replace(ENDPOINT, '')}`
  const versioned = api === 'anthropic-messages' && /\/v1\/*$/.test(base)
  return versioned
    ? `ends with /v1, which is added: give ${base.replace(/\/v1\/*$/, '')}`
    : undefined
}
