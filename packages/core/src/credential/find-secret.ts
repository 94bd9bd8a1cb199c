import { redact } from '../error/index.ts'
import type { Host } from '../kernel/index.ts'
import type { Credentials } from './credentials.ts'
import { credentialError } from './errors.ts'

/** Shorter values appear in ordinary text by chance. */
const MIN_SECRET_CHARS = 8
const SECRET_NAME = /(_API_KEY|_TOKEN|_SECRET|PASSWORD)$/i
/** Asked for like a secret, but hiding an address would only hide what went wrong. */
const PUBLIC_NAME = /_BASE_URL$/i

type Secrets = Readonly<Record<string, string | undefined>>

/**
 * Secrets from the environment, and behind it from what the host keeps: a variable that somebody
 * sets for one command wins. The environment's are those named like one, and those asked for.
 */
export function createCredentials({ env, credentials }: Host): Credentials {
  const asked = new Set<string>()
  const read = (name: string) => {
    asked.add(name)
    // The host is asked only when it has to be: what is kept badly stops nobody who needs it not.
    return valueOf(env, name) ?? valueOf(credentials?.() ?? {}, name)
  }
  return {
    has: (name) => read(name) !== undefined,
    reveal(name) {
      const value = read(name)
      if (value === undefined) throw credentialError('CREDENTIAL_MISSING', { name })
      return value
    },
    redact: (text) => redact(text, [...secretsOf(env, asked), ...keptBy(credentials)]),
  }
}

// Own members only: `constructor` is not a credential.
function valueOf(secrets: Secrets, name: string): string | undefined {
  return (Object.hasOwn(secrets, name) && secrets[name]?.trim()) || undefined
}

function secretsOf(env: Secrets, asked: ReadonlySet<string>): string[] {
  return Object.keys(env)
    .filter((name) => (asked.has(name) && !PUBLIC_NAME.test(name)) || SECRET_NAME.test(name))
    .map((name) => env[name]?.trim() ?? '')
    .filter((value) => value.length >= MIN_SECRET_CHARS)
}

function keptBy(credentials: Host['credentials']): string[] {
  try {
    return Object.values(credentials?.() ?? {})
      .map((value) => value.trim())
      .filter((value) => value.length >= MIN_SECRET_CHARS)
  } catch {
    // What is not read is not revealed, so that there is nothing to hide.
    return []
  }
}
