import { redact } from '../error/index.ts'
import type { Credentials } from './credentials.ts'
import { credentialError } from './errors.ts'

/** Shorter values appear in ordinary text by chance. */
const MIN_SECRET_CHARS = 8
const SECRET_NAME = /(_API_KEY|_TOKEN|_SECRET|PASSWORD)$/i
/** Asked for like a secret, but hiding an address would only hide what went wrong. */
const PUBLIC_NAME = /_BASE_URL$/i

/** Secrets from environment variables: those named like one, and those that were asked for. */
export function createCredentials(env: Readonly<Record<string, string | undefined>>): Credentials {
  const asked = new Set<string>()
  // Own members only: `constructor` is not a credential.
  const read = (name: string) => {
    asked.add(name)
    return (Object.hasOwn(env, name) && env[name]?.trim()) || undefined
  }
  return {
    has: (name) => read(name) !== undefined,
    reveal(name) {
      const value = read(name)
      if (value === undefined) throw credentialError('CREDENTIAL_MISSING', { name })
      return value
    },
    redact: (text) => redact(text, secretsOf(env, asked)),
  }
}

function secretsOf(
  env: Readonly<Record<string, string | undefined>>,
  asked: ReadonlySet<string>,
): string[] {
  return Object.keys(env)
    .filter((name) => (asked.has(name) && !PUBLIC_NAME.test(name)) || SECRET_NAME.test(name))
    .map((name) => env[name]?.trim() ?? '')
    .filter((value) => value.length >= MIN_SECRET_CHARS)
}
