import { setImmediate } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { escapeControls, isHarnessError } from '../error/index.ts'
import { assert, describeFailure, log, mount, reasonOf } from '../kernel/index.ts'
import type { Context, Mounted, RowState } from '../kernel/index.ts'
import type { PreparedRow, ReadyRow, RefusedRow } from './prepared.ts'
import { problem } from './problem.ts'
import type { Problem } from './problem.ts'
import type { Row } from './composition.ts'
import { injectOf, providesOf } from './service-graph.ts'

/** What became of one row, for people and programs. */
export interface RowReport {
  id: string
  state: 'active' | 'waiting' | 'failed' | 'disabled' | 'skipped' | 'quarantined'
  /** Why it is not active, as a sentence. */
  reason?: string
  /** The services that a waiting row misses. */
  needs?: string[]
  /** The layer and line that named the row, or that disabled it. */
  file: string
  line: number
  version?: string
  /** From mounting to the settled state; 0 for a row that was never mounted. */
  ms: number
}

interface LiveRow {
  ready: ReadyRow
  mounted: Mounted
  startedAt: number
  ms: number
}

/** Rows mounted on one context, in the order in which they were mounted. */
export class LiveRows {
  readonly #ctx: Context
  readonly #timeoutMs: number
  readonly #rows = new Map<string, LiveRow>()
  readonly #quarantined = new Map<string, { ready: ReadyRow; reason: string }>()

  constructor(ctx: Context, timeoutMs: number) {
    this.#ctx = ctx
    this.#timeoutMs = timeoutMs
  }

  /** Ids, the newest first: the order in which they are to be unmounted. */
  newestFirst(): string[] {
    return [...this.#rows.keys()].toReversed()
  }

  get(id: string): ReadyRow | undefined {
    return this.#rows.get(id)?.ready
  }

  /** Whether a row failed after it was mounted; the container never tries it again. */
  failed(id: string): boolean {
    return this.#rows.get(id)?.mounted.state().state === 'failed'
  }

  /** Whether a live row declares to provide `service`. */
  provides(service: string): boolean {
    return [...this.#rows.values()].some(({ ready }) => providesOf(ready.plugin)?.includes(service))
  }

  /** Whether this row is mounted with this code, and has not failed. */
  runs({ row, plugin, file }: ReadyRow): boolean {
    const live = this.get(row.id)
    return live?.plugin === plugin && live.file === file && !this.failed(row.id)
  }

  /** `ids` and every live row that stops with them, since it needs what they provide. */
  dependents(ids: Iterable<string>): Set<string> {
    const all = new Set(ids)
    // A set's iteration also visits what is added on the way.
    for (const id of all) {
      const services = providesOf(this.get(id)!.plugin) ?? []
      for (const [other, { ready }] of this.#rows) {
        if (injectOf(ready.plugin).some((service) => services.includes(service))) all.add(other)
      }
    }
    return all
  }

  /** The rows that failed and were taken out, each with its reason. */
  quarantined(): Map<string, string> {
    return new Map([...this.#quarantined].map(([id, { reason }]) => [id, reason]))
  }

  /** Lets quarantined rows be mounted again as they are. */
  forgive(ids: readonly string[]): void {
    for (const id of ids) this.#quarantined.delete(id)
  }

  /** Mounts a row, unless it is there, or failed before and is still the same. */
  mount(ready: ReadyRow): void {
    const { row, plugin } = ready
    const failed = this.#quarantined.get(row.id)
    if (this.#rows.has(row.id) || (failed && isSame(failed.ready, ready))) return
    const options = { id: row.id, plugin, config: row.config, timeoutMs: this.#timeoutMs }
    this.#quarantined.delete(row.id)
    const startedAt = performance.now()
    this.#rows.set(row.id, { ready, mounted: mount(this.#ctx, options), startedAt, ms: 0 })
  }

  /** Gives a live row its new configuration, if it is one; the problem if it did not take it. */
  async update(ready: ReadyRow): Promise<Problem[]> {
    const live = this.#rows.get(ready.row.id)!
    if (!isSame(live.ready, ready)) {
      live.startedAt = performance.now()
      try {
        await live.mounted.update(ready.row.config)
      } catch (error) {
        return [rowProblem(ready, `does not take its new config: ${ownWords(error)}`)]
      }
    }
    live.ready = ready
    return []
  }

  /** False for a row that did not stop in time: it is named in the log and left behind. */
  async unmount(id: string): Promise<boolean> {
    const live = this.#rows.get(id)
    this.#rows.delete(id)
    try {
      await live?.mounted.dispose()
      return true
    } catch (error) {
      log(this.#ctx, 'warn', `row ${id} did not stop`, { error: describeFailure(error) })
      return false
    }
  }

  /**
   * Waits until nothing moves, takes out optional rows that failed, and gives the problems of
   * required ones that are not active.
   */
  async settle(): Promise<Problem[]> {
    for (;;) {
      await this.#settle()
      const failed = this.newestFirst().filter((id) => {
        const { ready, mounted } = this.#rows.get(id)!
        return ready.row.optional && mounted.state().state === 'failed'
      })
      if (failed.length === 0) return this.#problems()
      for (const id of failed) await this.#quarantine(id)
    }
  }

  report(prepared: PreparedRow): RowReport {
    const { id } = prepared.row
    const live = this.#rows.get(id)
    if (live === undefined) {
      const failed = this.#quarantined.get(id)
      if (failed) return reportRefused({ ...failed.ready, ...failed, state: 'quarantined' })
      assert(prepared.state !== 'ready', `row ${id} is neither mounted nor refused`)
      return reportRefused(prepared)
    }
    const { row, version } = live.ready
    const state = describeState(live.mounted.state())
    const report: RowReport = { id, ...state, ...placeOf(row), ms: live.ms }
    if (version !== undefined) report.version = version
    return report
  }

  async #settle(): Promise<void> {
    // Each round one more provider may have let its consumers start.
    for (let round = 0; round <= this.#rows.size; round++) {
      await Promise.all([...this.#rows.values()].map((live) => settleRow(live)))
      // Consumers notice a new service a few microtasks later.
      await setImmediate()
      const states = [...this.#rows.values()].map(({ mounted }) => mounted.state().state)
      if (!states.includes('loading')) return
    }
  }

  async #quarantine(id: string): Promise<void> {
    const { ready, mounted } = this.#rows.get(id)!
    const { reason = '' } = describeState(mounted.state())
    await this.unmount(id)
    this.#quarantined.set(id, { ready, reason })
    log(this.#ctx, 'warn', `row ${id} is quarantined`, { reason })
  }

  #problems(): Problem[] {
    return [...this.#rows.values()].flatMap(({ ready, mounted }) => {
      const state = mounted.state()
      if (state.state === 'active' || (ready.row.optional && state.state === 'waiting')) return []
      const { reason = state.state } = describeState(state)
      const code = state.state === 'waiting' ? 'SERVICE_MISSING' : 'ROW_FAILED'
      return [rowProblem(ready, `is not active. ${reason}`, code)]
    })
  }
}

/** Whether two states of a row are the same to its plugin. */
export function isSame(a: ReadyRow, b: ReadyRow): boolean {
  return a.plugin === b.plugin && a.file === b.file && isDeepStrictEqual(a.row.config, b.row.config)
}

async function settleRow(live: LiveRow): Promise<void> {
  const moving = live.ms === 0 || live.mounted.state().state === 'loading'
  await live.mounted.settled()
  if (moving) live.ms = performance.now() - live.startedAt
}

function describeState(state: RowState): Pick<RowReport, 'state' | 'reason' | 'needs'> {
  switch (state.state) {
    case 'active':
      return { state: 'active' }
    case 'waiting': {
      const names = state.needs.map((name) => `ctx.${name}`).join(', ')
      return { state: 'waiting', reason: `It needs ${names}.`, needs: state.needs }
    }
    case 'failed':
      return { state: 'failed', reason: ownWords(state.error) }
    case 'loading':
      return { state: 'waiting', reason: 'It is still starting.' }
    case 'disposed':
      return { state: 'failed', reason: 'Something else has unloaded it.' }
  }
}

function rowProblem(
  { row }: ReadyRow,
  what: string,
  code: 'ROW_FAILED' | 'SERVICE_MISSING' = 'ROW_FAILED',
): Problem {
  const hint = 'Correct it or disable the row.'
  const message = `The row "${row.id}" ${what}`
  return problem(code, row.origins.get('name')!, message, { row: row.id, hint })
}

// The first line of the plugin's own words: without them nobody could correct a configuration.
function ownWords(error: unknown): string {
  const code = isHarnessError(error) ? ` (${error.code})` : ''
  return escapeControls(reasonOf(error).split('\n')[0]!) + code
}

function placeOf(row: Row): { file: string; line: number } {
  const { file, line } = row.origins.get(row.disabled ? 'disabled' : 'name')!
  return { file, line }
}

export function reportDisabled(row: Row): RowReport {
  const { file, line } = placeOf(row)
  const reason = `It is disabled at ${file}:${line}.`
  return { id: row.id, state: 'disabled', reason, file, line, ms: 0 }
}

function reportRefused({ row, state, reason }: RefusedRow): RowReport {
  return { id: row.id, state, reason, ...placeOf(row), ms: 0 }
}
