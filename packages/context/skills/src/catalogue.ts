import { estimateTokens } from '@cordage/core/model'
import { frame } from '@cordage/core/tool'
import type { Skill } from './skill-files.ts'

/** The list of skills that the model was told, as far as its text says. */
export interface Catalogue {
  readonly text: string
  /** A line for each skill that is named, by its name. */
  readonly lines: ReadonlyMap<string, string>
  /** Names for which there was no room. */
  readonly unnamed: ReadonlySet<string>
}

export interface CatalogueLimits {
  readonly maxTokens: number
  readonly maxDescriptionChars: number
}

const TITLE =
  'Skills: how to do some kinds of task. Where one fits, load it with the tool skill before you begin.'
const LINE = /^- ([a-z0-9-]+)(?:: .*)?$/gm
const CUT = '…'
const MORE = 'more: call skill with words to search for.'

/** All skills, with as much of each description as there is room for. */
export function catalogueOf(skills: readonly Skill[], limits: CatalogueLimits): Catalogue {
  if (skills.length === 0) return { text: '', lines: new Map(), unnamed: new Set() }
  const { lines, rest } = fitLines(skills, limits)
  const unnamed = new Set(rest.map(({ name }) => name))
  return { text: listText(TITLE, lines, rest.length), lines, unnamed }
}

/** What a text told that is in the log; what it left out are skills that there are now. */
export function readCatalogue(text: string, skills: readonly Skill[]): Catalogue {
  const lines = new Map([...text.matchAll(LINE)].map(([line, name = '']) => [name, line]))
  const rest = text.endsWith(MORE) ? skills.filter(({ name }) => !lines.has(name)) : []
  return { text, lines, unnamed: new Set(rest.map(({ name }) => name)) }
}

/** What is new, other and gone since the model was told `told`, of `count` skills. */
export function changesOf(
  told: Catalogue,
  skills: readonly Skill[],
  limits: CatalogueLimits,
): { readonly text: string; readonly count: number } {
  const names = new Set(skills.map(({ name }) => name))
  const gone = [...told.lines.keys()].filter((name) => !names.has(name))
  const changed = skills.filter((skill) => !told.unnamed.has(skill.name) && !isTold(told, skill))
  const count = gone.length + changed.length
  if (gone.length > 0 && skills.length === 0)
    return { text: 'There are no skills any more.', count }
  const { lines, rest } = fitLines(changed, limits)
  const parts = [
    ...(changed.length > 0
      ? [listText('Skills that are new or changed:', lines, rest.length)]
      : []),
    ...(gone.length > 0 ? [`Skills that are gone: ${gone.join(', ')}.`] : []),
  ]
  return { text: parts.join('\n'), count }
}

/** Whether what was said of a skill is how it begins. */
function isTold({ lines }: Catalogue, skill: Skill): boolean {
  const line = lines.get(skill.name)
  if (line === undefined) return false
  const whole = lineOf(skill, Infinity)
  if (line === whole || line === lineOf(skill, 0)) return true
  return line.endsWith(CUT) && whole.startsWith(line.slice(0, -CUT.length))
}

function fitLines(skills: readonly Skill[], { maxTokens, maxDescriptionChars }: CatalogueLimits) {
  const write = (chars: number) => new Map(skills.map((one) => [one.name, lineOf(one, chars)]))
  for (const share of [1, 0.5, 0.25, 0.1, 0]) {
    const lines = write(Math.floor(maxDescriptionChars * share))
    if (estimateTokens([...lines.values()].join('\n')) <= maxTokens) return { lines, rest: [] }
  }
  let room = maxTokens
  const fits = skills.findIndex((skill) => (room -= estimateTokens(lineOf(skill, 0)) + 1) < 0)
  const lines = new Map(skills.slice(0, fits).map((one) => [one.name, lineOf(one, 0)]))
  return { lines, rest: skills.slice(fits) }
}

/** `chars` are those of the description, of which nothing else but spaces is left out. */
function lineOf({ name, description, whenToUse }: Skill, chars: number): string {
  if (chars === 0) return `- ${name}`
  const text = [description, whenToUse ?? '']
    .join(' ')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  const shown = text.length > chars ? `${cut(text, chars)}${CUT}` : text
  return `- ${name}: ${shown}`
}

/** Not within a character. */
function cut(text: string, chars: number): string {
  return text.slice(0, chars).replace(/[\uD800-\uDBFF]$/, '')
}

function listText(title: string, lines: ReadonlyMap<string, string>, more: number): string {
  const list = frame('skills', {}, [...lines.values()].join('\n'))
  return [title, list, ...(more > 0 ? [`${more} ${MORE}`] : [])].join('\n')
}
