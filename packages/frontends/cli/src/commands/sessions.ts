import { existsSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { projectOf } from '@cordage/core/environment'
import type { RootContext } from '@cordage/core/kernel'
import type { SessionSummary, Store, StoreUpkeep } from '@cordage/core/store'
import { jsonText, oneLine, tableText } from '../print/table.ts'
import { cliError } from './errors.ts'
import type { ListOptions } from './options.ts'
import { withHarness } from './with-harness.ts'

/** A first search has all sessions to read; what it did not come to is in the index the next time. */
const maxIndexMs = 600_000

export interface SessionListOptions extends ListOptions {
  readonly limit: number
  /** Only sessions of this project directory. */
  readonly project?: string
  /** Those that were put away, too. */
  readonly archived?: boolean
  /** Those that agents started, too. */
  readonly children?: boolean
}

export async function listSessions(options: SessionListOptions): Promise<number> {
  return withHarness(options, async ({ ctx }) => {
    const of = await projectFilter(ctx, options)
    const { limit, archived = false, children = false } = options
    const list = await storeOf(ctx).list({ limit, archived, children, ...of })
    const now = Date.now()
    const where = of.project === undefined ? '' : ` of ${of.project}`
    if (options.output === 'json') process.stdout.write(jsonText(list))
    else if (list.length > 0) process.stdout.write(tableText(list.map((one) => line(one, now))))
    else process.stderr.write(`There is no session${where} yet. Start one: cordage "what to do"\n`)
    return 0
  })
}

/** An argument of several words is a phrase, as the quotes say that it took to write it. */
export async function findInSessions(words: readonly string[], options: SessionListOptions) {
  const text = words.map((word) => (/\s/.test(word) && !word.includes('"') ? `"${word}"` : word))
  return withHarness(options, async ({ ctx }) => {
    const query = ctx.get('sessionQuery')
    if (!query) throw cliError('USAGE', { reason: 'This profile has no index of sessions.' })
    const { limit, archived = false, children = false } = options
    const filter = { limit, archived, children, ...(await projectFilter(ctx, options)) }
    const found = await query.events({ text: text.join(' '), waitMs: maxIndexMs, ...filter })
    const { hits, behind, unreadable } = found
    const lines = hits.map(({ session, seq, source, snippet }) => {
      return [session, `#${seq}`, source, oneLine(snippet, 200)]
    })
    const listed = hits.map(({ session: id, ...hit }) => ({ id, ...hit }))
    process.stdout.write(options.output === 'json' ? jsonText(listed) : tableText(lines))
    if (hits.length === 0) {
      process.stderr.write(`No session says "${oneLine(words.join(' '), 60)}".\n`)
    }
    if (behind > 0) {
      process.stderr.write(`${behind} sessions are not in the index yet: search again.\n`)
    }
    for (const id of unreadable) process.stderr.write(`not read wholly: ${id} is damaged\n`)
    return hits.length === 0 ? 1 : 0
  })
}

export function storeOf(ctx: RootContext): Store {
  const store = ctx.get('store')
  if (!store) throw cliError('USAGE', { reason: 'This profile keeps no sessions.' })
  return store
}

/** Throws `USAGE` where the store keeps nothing that could be out of order. */
export function upkeepOf(ctx: RootContext): StoreUpkeep {
  const { upkeep, location } = storeOf(ctx)
  if (!upkeep) throw cliError('USAGE', { reason: `Sessions in ${location} need no upkeep.` })
  return upkeep
}

/** The project that a directory belongs to, as `continue` understands it. */
export async function projectFilter(
  ctx: RootContext,
  { project: given }: Pick<SessionListOptions, 'project'>,
): Promise<{ project?: string }> {
  if (given === undefined) return {}
  const directory = resolve(given)
  // Of a project that is gone its sessions are still there, under the path it had.
  if (!existsSync(directory)) return { project: directory }
  const real = realpathSync(directory)
  const fs = ctx.get('fs')
  return { project: fs ? await projectOf(fs, real) : real }
}

function line(summary: SessionSummary, now: number): string[] {
  const { header, updatedAt, title, firstWords, damaged, busy, archived } = summary
  const words = oneLine(damaged ?? title ?? firstWords ?? '', 60)
  const flags = { busy, damaged: damaged !== undefined, archived, child: header.depth > 0 }
  const set = Object.entries(flags).flatMap(([flag, isSet]) => (isSet ? [flag] : []))
  const project = oneLine(header.project, 200)
  return [header.id, ageText(now - updatedAt), words, project, set.join(', ')]
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const

function ageText(ms: number): string {
  const [unit, size] = UNITS.find(([, size]) => ms >= size) ?? ['s', 1_000]
  return `${Math.max(0, Math.floor(ms / size))}${unit}`
}
