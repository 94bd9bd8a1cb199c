import type { Argument, Command, Option } from 'commander'
import { version } from '../boot/installation.ts'
import { createProgram } from '../program.ts'
import type { CompletionKind } from './complete-words.ts'

/** What a shell offers for the last of `words`, which stand behind `cordage`. Boots nothing. */
export async function complete(words: readonly string[]): Promise<string> {
  // Bash takes an option and the value behind its "=" apart.
  const parts = words.filter((word) => word !== '=')
  const current = words.at(-1) === '=' ? '' : (parts.pop() ?? '')
  const line = readLine(
    createProgram(version, () => {}),
    parts,
  )
  const offered = await candidates(line, current)
  return offered
    .filter(({ value }) => value.startsWith(current))
    .map(({ value, about }) => `${value}\t${about}\n`)
    .join('')
}

interface Candidate {
  readonly value: string
  readonly about: string
}

/** What the words before the current one come to. */
interface Line {
  readonly command: Command
  readonly given: readonly string[]
  /** The option of which the current word is the value. */
  readonly open: Option | undefined
  readonly profile: string | undefined
  readonly patches: readonly string[]
}

function readLine(program: Command, words: readonly string[]): Line {
  let command = program
  let open: Option | undefined
  let given: string[] = []
  const values: Record<string, string[]> = {}
  for (const word of words) {
    const child = command.commands.find((found) => found.name() === word)
    if (open !== undefined) {
      ;(values[open.long ?? ''] ??= []).push(word)
      open = undefined
    } else if (word.startsWith('-')) {
      const [name, value] = word.split('=', 2)
      const option = optionsOf(command).find(({ long, short }) => long === name || short === name)
      if (option !== undefined && takesValue(option) && value === undefined) open = option
      if (value !== undefined) (values[name ?? ''] ??= []).push(value)
    } else if (child !== undefined && given.length === 0) {
      command = child
    } else given = [...given, word]
  }
  const profile = values['--profile']?.at(-1)
  return { command, given, open, profile, patches: values['--patch'] ?? [] }
}

async function candidates(line: Line, current: string): Promise<Candidate[]> {
  const { command, given, open } = line
  if (open !== undefined) return valuesOf(open, line)
  const [name, value] = current.split('=', 2)
  const inline = optionsOf(command).find(({ long }) => long === name)
  if (value !== undefined && inline !== undefined) {
    const values = await valuesOf(inline, line)
    return values.map((found) => ({ ...found, value: `${name}=${found.value}` }))
  }
  if (current.startsWith('-')) return optionsOf(command).map(aboutOption)
  const inner = given.length === 0 ? command.createHelp().visibleCommands(command) : []
  const argument = command.registeredArguments[given.length] ?? lastVariadic(command)
  const kind = argument && argumentKinds[pathOf(command)]
  return [
    ...inner.map((child) => ({ value: child.name(), about: child.description() })),
    ...(kind === undefined ? [] : await wordsFor(kind, line)),
  ]
}

const argumentKinds: Readonly<Record<string, CompletionKind>> = {
  resume: 'sessions',
  'sessions show': 'sessions',
  'sessions delete': 'sessions',
  'sessions rename': 'sessions',
  'sessions compact': 'sessions',
  'sessions queue': 'sessions',
  'sessions archive': 'sessions',
  'sessions pack': 'sessions',
  'sessions usage': 'sessions',
  'sessions export': 'sessions',
  'auth set': 'providers',
  'auth remove': 'keys',
  'auth test': 'providers',
  'models test': 'models',
  'config explain': 'rows',
  completion: 'shells',
}

const optionKinds: Readonly<Record<string, CompletionKind>> = {
  '--profile': 'profiles',
  '--model': 'models',
  '--preset': 'presets',
}

async function valuesOf(option: Option, line: Line): Promise<Candidate[]> {
  if (option.argChoices) return option.argChoices.map((value) => ({ value, about: '' }))
  const kind = optionKinds[option.long ?? '']
  return kind === undefined ? [] : wordsFor(kind, line)
}

/** What composes is loaded only for words of a composition: somebody waits with a finger on TAB. */
async function wordsFor(kind: CompletionKind, { profile, patches }: Line): Promise<Candidate[]> {
  const { wordsOf } = await import('./complete-words.ts')
  const chosen = { ...(profile === undefined ? {} : { profile }), patches }
  return wordsOf(kind, chosen).map((value) => ({ value, about: '' }))
}

/** Those of the command and of all above it; a line that names none is one of `run`. */
function optionsOf(command: Command): Option[] {
  const run = command.commands.find((child) => child.name() === 'run')
  const from = command.parent === null ? (run ?? command) : command
  const seen = new Map<string, Option>()
  for (let at: Command | null = from; at !== null; at = at.parent) {
    for (const option of at.createHelp().visibleOptions(at)) {
      if (!seen.has(option.flags)) seen.set(option.flags, option)
    }
  }
  return [...seen.values()]
}

function aboutOption({ long, short, description }: Option): Candidate {
  return { value: long ?? short ?? '', about: description }
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional
}

function lastVariadic({ registeredArguments }: Command): Argument | undefined {
  const last = registeredArguments.at(-1)
  return last?.variadic === true ? last : undefined
}

function pathOf(command: Command): string {
  const above = command.parent?.parent ? `${pathOf(command.parent)} ` : ''
  return above + command.name()
}
