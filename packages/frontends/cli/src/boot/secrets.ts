import { redact } from '@cordage/core/error'
import type { RootContext } from '@cordage/core/kernel'

const SECRET_NAME = /(_API_KEY|_KEY|_TOKEN|_SECRET|PASSWORD|PASSWD)$/i
const MIN_CHARS = 8

/**
 * Hides the values of variables that are named like secrets, and, once they are there, whatever
 * `ctx.credentials` knows: a log begins before any row does.
 */
export function createRedactor(
  env: Readonly<Record<string, string | undefined>>,
  root: () => RootContext | undefined,
): (text: string) => string {
  const secrets = Object.entries(env)
    .filter(([name]) => SECRET_NAME.test(name))
    .map(([, value]) => value?.trim() ?? '')
    .filter((value) => value.length >= MIN_CHARS)
  return (text) => {
    const clean = redact(text, secrets)
    return root()?.get('credentials')?.redact(clean) ?? clean
  }
}
