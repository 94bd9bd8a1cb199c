import { realpathSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Composition } from '@cordage/core/compose'
import { installationRoot } from './installation.ts'
import { manifestOf } from './manifest.ts'

// What this process has begun, for the one who has to say what came in between: code that a
// failure comes from, or that ends the process, knows nothing of the row that brought it.
const ids = new Map<string, string>()
const foreign = new Map<string, string>()
let openSessions = (): readonly string[] => []

/** Remembers whose plugins will be loaded. */
export function noteRows({ rows, presets }: Pick<Composition, 'rows' | 'presets'>): void {
  const inPresets = [...presets.values()].flatMap((preset) => preset.rows)
  for (const { id, name, from } of [...rows, ...inPresets]) ids.set(keyOf(name, from), id)
}

/** Remembers the file of a plugin that is about to be imported, unless it is one of ours. */
export function noteLoading(file: string, name: string, from: string): void {
  if (!isOwnPackage(file)) foreign.set(realPath(file), ids.get(keyOf(name, from)) ?? name)
}

/** `list` gives the ids of the sessions that are open. */
export function noteSessions(list: () => readonly string[]): void {
  openSessions = list
}

export function sessionsUnderway(): readonly string[] {
  return openSessions()
}

/** The rows whose plugins are not ours. */
export function foreignRows(): string[] {
  return [...new Set(foreign.values())]
}

/** Where code that is not ours first appears in a stack, as in `/a/b.ts:3 (row "b")`. */
export function foreignFrame(stack: string): string | undefined {
  for (const [, place = '', line = ''] of stack.matchAll(FRAME)) {
    const file = place.startsWith('file:') ? fileURLToPath(place) : place
    const row = rowOf(file)
    if (row !== undefined) return `${file}:${line} (row "${row}")`
    if (!isOurs(file)) return `${file}:${line}`
  }
  return undefined
}

const FRAME = /^ +at (?:.*\()?((?:file:\/\/|\/|[A-Za-z]:\\).*?)(?:\?[^:]*)?:(\d+):\d+\)?$/gm

function rowOf(file: string): string | undefined {
  const beside = [...foreign].find(([plugin]) => file.startsWith(dirname(plugin) + sep))
  return foreign.get(file) ?? beside?.[1]
}

function isOurs(file: string): boolean {
  return file.startsWith(join(installationRoot(), 'node_modules') + sep) || isOwnPackage(file)
}

function isOwnPackage(file: string): boolean {
  const name = manifestOf(file)?.name ?? ''
  return name === 'cordage' || name.startsWith('@cordage/')
}

function realPath(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    // The import will say that it is not there.
    return file
  }
}

function keyOf(name: string, from: string): string {
  return JSON.stringify([name, from])
}
