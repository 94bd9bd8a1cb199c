import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What a plugin can be the beginning of; each is a folder of templates. */
export const kinds = ['tool', 'policy', 'model', 'context'] as const
export type Kind = (typeof kinds)[number]

export interface PluginWish {
  /** Of the package. */
  readonly name: string
  readonly kind: Kind
  /** Of Cordage: the contracts that the plugin is written and tested against. */
  readonly version: string
  readonly year: number
}

const templates = fileURLToPath(new URL('../templates/', import.meta.url))
const MARK = '.tpl'

export function isKind(word: string): word is Kind {
  return (kinds as readonly string[]).includes(word)
}

/** Whether npm takes `name` for a new package. */
export function isPackageName(name: string): boolean {
  return name.length <= 214 && /^(@[a-z0-9][a-z0-9._-]*\/)?[a-z][a-z0-9._-]*$/.test(name)
}

/** The files of a new plugin: path below its folder, and text. */
export function scaffold({ name, kind, version, year }: PluginWish): Map<string, string> {
  const words = name
    .replace(/^@/, '')
    .split(/[^a-z0-9]+/)
    .filter(Boolean)
  const last = name
    .split('/')
    .at(-1)!
    .split(/[^a-z0-9]+/)
    .filter(Boolean)
  const values: Record<string, string> = {
    name,
    kind,
    version,
    year: String(year),
    row: words.join('-'),
    word: last.join('_'),
  }
  const files = [...filesOf('base'), ...filesOf(kind)].map(([path, text]) => {
    const filled = text.replaceAll(/\{\{(\w+)\}\}/g, (hole, key: string) => values[key] ?? hole)
    return [path, filled] as const
  })
  return new Map(files)
}

// Templates are no files of ours: the mark keeps compilers and tests from taking them for some.
function filesOf(folder: string): [path: string, text: string][] {
  const names = readdirSync(join(templates, folder), { recursive: true, encoding: 'utf8' })
  return names
    .filter((name) => name.endsWith(MARK))
    .map((name) => {
      const path = name.slice(0, -MARK.length).replaceAll('\\', '/').replace(/^_/, '.')
      return [path, readFileSync(join(templates, folder, name), 'utf8')]
    })
}
