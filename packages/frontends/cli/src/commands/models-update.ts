import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { problemText, readCatalogue, type LayerSource } from '@cordage/core/compose'
import { isHarnessError } from '@cordage/core/error'
import { routeFields, routeId } from '@cordage/core/model'
import { z } from 'zod'
import { composeRequestOf } from '../boot/boot.ts'
import { CATALOGUE_FILE } from '../boot/layers.ts'
import { makeHome } from '../boot/make-directory.ts'
import { findProfile } from '../boot/profile.ts'
import { readText } from '../boot/read-text.ts'
import { cliError } from './errors.ts'
import { bootOptionsOf, type GlobalOptions } from './options.ts'

const TIMEOUT_MS = 60_000
const MAX_BYTES = 1024 * 1024

export interface ModelsUpdateOptions extends GlobalOptions {
  /** Goes back to the catalogue that ships. */
  readonly reset: boolean
}

const models = z.record(routeId, routeFields.models)

/** Puts a catalogue from a file or a URL into the home, if every word of it can be used. */
export async function updateModels(
  from: string | undefined,
  options: ModelsUpdateOptions,
): Promise<number> {
  const { home, cwd, profile } = composeRequestOf(bootOptionsOf(options))
  const file = join(home, CATALOGUE_FILE)
  if ((from === undefined) !== options.reset) {
    throw cliError('USAGE', { reason: 'Give a file or a URL, or --reset.' })
  }
  if (from === undefined) {
    rmSync(file, { force: true })
    process.stdout.write('What ships with Cordage is what is known of models.\n')
    return 0
  }
  const refuse = (reason: string) => cliError('CATALOGUE_REFUSED', { from, reason })
  const text = isURL(from) ? await download(from, refuse) : read(resolve(cwd, from), refuse)
  const { date, providers } = check({ kind: 'catalogue', name: from, file: from, text }, refuse)
  const shipped = findProfile(profile, cwd).files.filter(({ kind }) => kind === 'catalogue')
  const dates = shipped.map((layer) => readCatalogue({ ...layer, text: readText(layer.file) }).date)
  const newer = dates.find((other) => other > date)
  if (newer) throw refuse(`it is of ${date}, and the one that ships is of ${newer}.`)
  makeHome(home)
  write(file, text)
  const lists = Object.values(providers)
  const count = lists.reduce((sum, list) => sum + list.length, 0)
  const known = `${count} models of ${lists.length} providers, as of ${date}`
  process.stdout.write(`${file} is in use: ${known}.\n`)
  return 0
}

type Refuse = (reason: string) => Error

function check(source: LayerSource, refuse: Refuse) {
  const { date, providers, problems } = readCatalogue(source)
  const [first] = problems
  if (first) throw refuse(problemText(first))
  const { data, error } = models.safeParse(providers)
  const [issue] = error?.issues ?? []
  if (issue) throw refuse(`${issue.path.join('.')}: ${issue.message}.`)
  return { date, providers: data ?? {} }
}

function isURL(from: string): boolean {
  return /^https?:\/\//i.test(from)
}

function read(file: string, refuse: Refuse): string {
  try {
    return readText(file)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    throw refuse(code === 'ENOENT' ? 'there is no such file.' : `it cannot be read (${code}).`)
  }
}

async function download(url: string, refuse: Refuse): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    if (!response.ok) throw refuse(`the server said ${response.status}.`)
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true })
      if (text.length > MAX_BYTES) throw refuse('it is larger than a megabyte.')
    }
  } catch (error) {
    if (isHarnessError(error)) throw error
    throw refuse('the server could not be reached.')
  }
  return text
}

/** Whole or not at all: whoever reads meanwhile sees the old text. */
function write(file: string, text: string): void {
  const fresh = `${file}.${process.pid}`
  try {
    writeFileSync(fresh, text, { mode: 0o600 })
    renameSync(fresh, file)
  } finally {
    rmSync(fresh, { force: true })
  }
}
