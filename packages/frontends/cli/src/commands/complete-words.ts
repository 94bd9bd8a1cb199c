import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Composition } from '@cordage/core/compose'
import { composeRequestOf } from '../boot/boot.ts'
import { homeOf } from '../boot/installation.ts'
import { composeProfile } from '../boot/layers.ts'
import { profileNames } from '../boot/profile.ts'
import { credentialReader } from '../credential/credential-file.ts'
import { routesOf } from './routes.ts'

const DEFAULT_PROFILE = 'headless'
const MAX_SESSIONS = 100

interface Chosen {
  readonly profile?: string
  readonly patches: readonly string[]
}

const sources = {
  profiles: () => profileNames(),
  shells: () => ['bash', 'zsh', 'fish'],
  sessions: () => sessionIds(join(homeOf(process.env), 'sessions')),
  keys: () => Object.keys(credentialReader(homeOf(process.env))()),
  providers: (chosen: Chosen) => routesOf(composed(chosen)).map(({ id }) => id),
  models: (chosen: Chosen) =>
    routesOf(composed(chosen)).flatMap(({ id, models }) => models.map((model) => `${id}/${model}`)),
  presets: (chosen: Chosen) => [...composed(chosen).presets.keys()],
  rows: (chosen: Chosen) => {
    const { rows, presets } = composed(chosen)
    const inPresets = [...presets.values()].flatMap((preset) => preset.rows)
    return [...new Set([...rows, ...inPresets].map(({ id }) => id))]
  },
} satisfies Record<string, (chosen: Chosen) => string[]>

export type CompletionKind = keyof typeof sources

/** The words of a kind; none where something is wrong, because nobody reads a message now. */
export function wordsOf(kind: CompletionKind, chosen: Chosen): string[] {
  try {
    return sources[kind](chosen)
  } catch {
    // The command itself will say what is wrong.
    return []
  }
}

function composed({ profile = DEFAULT_PROFILE, patches }: Chosen): Composition {
  return composeProfile(composeRequestOf({ profile, patches })).composition
}

/** Folders of sessions, the latest first: opening a store would take longer than a person waits. */
function sessionIds(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  )
  return entries
    .map(({ name }) => ({ name, at: modifiedAt(join(folder, name, 'log')) }))
    .sort((a, b) => b.at - a.at)
    .slice(0, MAX_SESSIONS)
    .map(({ name }) => name)
}

function modifiedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
