import { didYouMean } from '@cordage/core/error'
import type { Composition } from '@cordage/core/compose'
import { composeRequestOf } from '../boot/boot.ts'
import { composeProfile, type ComposeRequest } from '../boot/layers.ts'
import {
  changeCredential,
  credentialFileOf,
  credentialReader,
  type KeptCredentials,
} from '../credential/credential-file.ts'
import { credentialFileError } from '../credential/errors.ts'
import { keyFault } from '../credential/key-hygiene.ts'
import { readSecret } from '../credential/secret-input.ts'
import { jsonText, tableText } from '../print/table.ts'
import { cliError } from './errors.ts'
import { bootOptionsOf, type GlobalOptions, type ListOptions } from './options.ts'
import { routesOf } from './routes.ts'

const NAME = /^[A-Z_][A-Z0-9_]*$/
const CANCELLED = 130
/** Of a shorter value four characters would be too much. */
const MIN_CHARS_SHOWN = 16

/** Keeps a key that is typed unseen or piped in; never one of the command line. */
export async function setCredential(
  words: readonly string[],
  options: GlobalOptions,
): Promise<number> {
  const [target = '', ...more] = words
  if (more.length > 0) throw credentialFileError('CREDENTIAL_AS_ARGUMENT', { target })
  const { home, env, composition } = lookAround(options)
  const name = nameOf(target, composition)
  // A file that would be refused is refused before anybody types a key.
  credentialReader(home)()
  const prompt = { text: `The key for ${name} (it is not shown): `, write: say }
  const value = await readSecret(process.stdin, prompt)
  if (value === undefined) return CANCELLED
  const reason = keyFault(value)
  if (reason !== undefined) throw credentialFileError('CREDENTIAL_REFUSED', { name, reason })
  changeCredential(home, name, value)
  const routes = usersOf(name, composition)
  say(`Kept ${name} (${endOf(value)}) in ${credentialFileOf(home)}, for you alone.\n`)
  if (isSet(env, name)) say(`The environment variable ${name} is set too, and it wins.\n`)
  say(
    routes.length === 0
      ? `No route of this profile uses ${name}; a plugin may.\n`
      : `Try it: cordage auth test ${routes[0]}\n`,
  )
  return 0
}

/** Names where keys come from and how they end, never more of them. */
export async function listCredentials(options: ListOptions): Promise<number> {
  const { home, env, composition } = lookAround(options)
  const kept = credentialReader(home)()
  const names = routesOf(composition).flatMap(({ apiKeyEnv = [] }) => apiKeyEnv)
  const list = [...new Set([...names, ...Object.keys(kept)])]
    .filter((name) => isSet(env, name) || isSet(kept, name))
    .map((name) => ({
      name,
      source: isSet(env, name) ? 'environment' : 'file',
      end: endOf((isSet(env, name) ? env[name] : kept[name])?.trim() ?? ''),
      routes: usersOf(name, composition),
      hidden: isSet(env, name) && isSet(kept, name),
    }))
  if (options.output === 'json') process.stdout.write(jsonText(list))
  else process.stdout.write(tableText(list.map(lineOf)))
  if (list.length === 0)
    process.stderr.write('There is none. Keep one: cordage auth set <provider>\n')
  return 0
}

interface Listed {
  readonly name: string
  readonly source: string
  readonly end: string
  readonly routes: readonly string[]
  /** The file has one too, which the environment hides. */
  readonly hidden: boolean
}

function lineOf({ name, source, end, routes, hidden }: Listed): string[] {
  const from = hidden ? `${source}, which hides the one in the file` : source
  return [name, end, routes.join(', ') || '-', from]
}

export async function removeCredential(target: string, options: GlobalOptions): Promise<number> {
  const { home, env, composition } = lookAround(options)
  const name = nameOf(target, composition)
  const file = credentialFileOf(home)
  const variable = isSet(env, name) ? ` The environment variable ${name} is still set.` : ''
  if (!Object.hasOwn(credentialReader(home)(), name)) {
    const reason = `There is no ${name} in ${file}.${variable}`
    throw credentialFileError('CREDENTIAL_UNKNOWN', { reason })
  }
  changeCredential(home, name, undefined)
  process.stderr.write(`Removed ${name} from ${file}.${variable}\n`)
  return 0
}

function lookAround(options: GlobalOptions): ComposeRequest & { composition: Composition } {
  const request = composeRequestOf(bootOptionsOf(options))
  return { ...request, composition: composeProfile(request).composition }
}

function say(text: string): void {
  process.stderr.write(text)
}

/** The name of the credential that somebody means by a provider or by the name itself. */
function nameOf(target: string, composition: Composition): string {
  const routes = routesOf(composition)
  const route = routes.find(({ id }) => id === target)
  if (route?.apiKeyEnv !== undefined) return route.apiKeyEnv
  if (route !== undefined) {
    throw cliError('USAGE', { reason: `The route ${target} takes no key: it has no apiKeyEnv.` })
  }
  if (target.endsWith('_BASE_URL')) {
    const reason = `${target} is an address and no secret: set the variable, or baseURL of its row.`
    throw cliError('USAGE', { reason })
  }
  if (NAME.test(target)) return target
  const known = routes.map(({ id }) => id)
  const hint = didYouMean(target, known) ?? `Known: ${known.join(', ')}.`
  const reason = `There is no provider "${target}". ${hint} A name has capitals: SOME_API_KEY.`
  throw cliError('USAGE', { reason })
}

function usersOf(name: string, composition: Composition): string[] {
  return routesOf(composition).flatMap(({ id, apiKeyEnv }) => (apiKeyEnv === name ? [id] : []))
}

function endOf(value: string): string {
  return value.length < MIN_CHARS_SHOWN ? '…' : `…${value.slice(-4)}`
}

function isSet(values: KeptCredentials | ComposeRequest['env'], name: string): boolean {
  return Object.hasOwn(values, name) && (values[name]?.trim() ?? '') !== ''
}
