import { assert, definePlugin, log, mount, own } from '../kernel/index.ts'
import type { Context, Mounted, Plugin, Services } from '../kernel/index.ts'
import { changeOf, newlyRefused } from './change.ts'
import type { Change } from './change.ts'
import type { Composition } from './composition.ts'
import { difference } from './difference.ts'
import { fail, rejected } from './errors.ts'
import { LiveRows, reportDisabled } from './live-rows.ts'
import type { RowReport } from './live-rows.ts'
import { preflight } from './preflight.ts'
import type { Loader, Prepared, PreparedRow, ReadyRow } from './prepared.ts'
import { createPresets } from './presets.ts'
import type { Presets } from './presets.ts'
import { problem } from './problem.ts'
import type { Problem } from './problem.ts'
import { isReady, providesOf } from './service-graph.ts'

/** What closing met; rows in `hung` did not stop in time and were left behind. */
export interface CloseReport {
  hung: string[]
}

/** Keeps what is mounted equal to the composition that was applied last. */
export interface Composer {
  /**
   * Mounts the difference to what runs, one call after the other. Throws COMPOSE_REJECTED with
   * every reason in `details.problems`, after restoring what ran before; the first time that is
   * nothing. Agents keep the rows of their preset; new ones get those of the new composition.
   */
  apply(composition: Composition): Promise<Change>
  /** Every row of the composition, the disabled ones too, as it is now. */
  report(): RowReport[]
  /** Unmounts row by row, the newest first; each call returns the same promise. */
  close(): Promise<CloseReport>
}

export interface ComposerOptions {
  /** Limit for each step of one row: import, activation, teardown. */
  rowTimeoutMs?: number
}

/** A composer that mounts on `root` and provides `ctx.presets` there until it is closed. */
export function createComposer(
  root: Context,
  loader: Loader,
  options: ComposerOptions = {},
): Composer {
  return new RootComposer(root, loader, options.rowTimeoutMs ?? 10_000)
}

class RootComposer implements Composer {
  readonly #root: Context
  readonly #loader: Loader
  readonly #timeoutMs: number
  readonly #live: LiveRows
  readonly #presets: Mounted
  #prepared: Prepared | undefined
  #queue: Promise<unknown> = Promise.resolve()
  #closing: Promise<CloseReport> | undefined

  constructor(root: Context, loader: Loader, timeoutMs: number) {
    this.#root = root
    this.#loader = loader
    this.#timeoutMs = timeoutMs
    this.#live = new LiveRows(root, timeoutMs)
    const plugin = presetsPlugin(createPresets(() => this.#prepared, timeoutMs))
    this.#presets = mount(root, { id: 'core-presets', plugin, config: {}, timeoutMs })
  }

  apply(composition: Composition): Promise<Change> {
    if (this.#closing) return Promise.reject(fail('COMPOSE_CLOSED'))
    return this.#enqueue(() => this.#apply(composition))
  }

  report(): RowReport[] {
    if (this.#prepared === undefined) return []
    const { composition, rows } = this.#prepared
    const prepared = new Map(rows.map((row) => [row.row.id, row]))
    return composition.rows.map((row) => {
      const enabled = prepared.get(row.id)
      return enabled === undefined ? reportDisabled(row) : this.#live.report(enabled)
    })
  }

  close(): Promise<CloseReport> {
    this.#closing ??= this.#enqueue(async () => {
      const hung: string[] = []
      for (const id of this.#live.newestFirst()) {
        if (!(await this.#live.unmount(id))) hung.push(id)
      }
      await this.#presets.dispose()
      return { hung }
    })
    return this.#closing
  }

  // Overlapping changes never interleave, whatever became of the one before.
  #enqueue<T>(task: () => Promise<T>): Promise<T> {
    const run = this.#queue.then(task)
    this.#queue = run.catch(() => {
      // Its caller has the rejection.
    })
    return run
  }

  async #apply(composition: Composition): Promise<Change> {
    const { state } = await this.#presets.settled()
    assert(state === 'active', 'a root has one composer, which provides ctx.presets')
    // What the host provided on the root before; of a plain plugin's service we cannot know.
    const given = (service: string): boolean =>
      this.#root.get(service as keyof Services) !== undefined && !this.#live.provides(service)
    const options = { timeoutMs: this.#timeoutMs, given }
    const prepared = await preflight(composition, this.#loader, options)
    const before = this.#prepared
    const change = changeOf(this.#live, before, prepared)
    const found = [...prepared.problems, ...this.#inUse(change, composition)]
    if (found.length > 0) throw rejected(found)
    const reports = this.report()
    // Rows may ask for presets while they start.
    this.#prepared = prepared
    try {
      const problems = await this.#transition(prepared.rows)
      if (problems.length > 0) throw rejected(problems)
      return { ...change, refused: newlyRefused(reports, this.report()) }
    } catch (error) {
      this.#prepared = before
      await this.#restore(before?.rows ?? [])
      throw error
    }
  }

  // An agent lives in the scope of the row that provides `agents`, and ends with it.
  #inUse({ changed, removed }: Change, composition: Composition): Problem[] {
    const running = this.#root.get('agents')?.list().length ?? 0
    if (running === 0) return []
    const carries = (id: string): boolean =>
      [...this.#live.dependents([id])].some((other) =>
        providesOf(this.#live.get(other)!.plugin)?.includes('agents'),
      )
    const edits = difference(this.#prepared!.composition, composition)
    return [...changed, ...removed].filter(carries).map((id) => {
      const edit = edits.find((one) => one.id === id && one.presets.length === 0)
      const { origins } = this.#live.get(id)!.row
      const place = edit?.removed ?? edit?.values.at(-1)?.after ?? origins.get('name')!
      const message = `The row "${id}" carries ${running} running session(s), which this would end.`
      const hint = 'End them first, or start again to apply it.'
      return problem('ROW_IN_USE', place, message, { row: id, hint })
    })
  }

  async #restore(rows: readonly PreparedRow[]): Promise<void> {
    for (const { message } of await this.#transition(rows, 'at once')) {
      log(this.#root, 'error', `restoring the composition before: ${message}`)
    }
  }

  /**
   * Makes the live rows equal to `target`, as far as that goes; gives what does not. Rows that go
   * stay until the others are up, so that a rejection leaves them as they were; one that stands
   * in the way of another goes first.
   */
  async #transition(target: readonly PreparedRow[], going?: 'at once'): Promise<Problem[]> {
    const wanted = new Map(target.filter(isReady).map((row) => [row.row.id, row]))
    const newcomers = [...wanted.values()].filter((row) => !this.#live.runs(row))
    const needed = newcomers.flatMap(({ plugin }) => providesOf(plugin) ?? [])
    const later: string[] = []
    for (const id of this.#live.newestFirst()) {
      const [next, { plugin }] = [wanted.get(id), this.#live.get(id)!]
      if (next !== undefined && this.#live.runs(next)) continue
      const clashes = providesOf(plugin)?.some((service) => needed.includes(service)) ?? true
      if (going === 'at once' || next !== undefined || clashes) await this.#live.unmount(id)
      else later.push(id)
    }
    const refused = new Set(this.#live.quarantined().keys())
    const problems = await this.#bring(wanted)
    const lost = [...this.#live.quarantined()].filter(([id]) => !refused.has(id))
    // Whoever registers a name that is taken is told by which row.
    const reasons = [...problems.map(({ message }) => message), ...lost.map(([, why]) => why)]
    const blocked = later.some((id) => reasons.some((text) => text.includes(`by ${id}`)))
    if (problems.length > 0 && !blocked) return problems
    for (const id of later) await this.#live.unmount(id)
    if (!blocked) return this.#live.settle()
    this.#live.forgive(lost.map(([id]) => id))
    return this.#bring(wanted)
  }

  async #bring(wanted: ReadonlyMap<string, ReadyRow>): Promise<Problem[]> {
    const problems: Problem[] = []
    for (const ready of wanted.values()) {
      const { id } = ready.row
      if (this.#live.failed(id)) await this.#live.unmount(id)
      if (this.#live.get(id) !== undefined) problems.push(...(await this.#live.update(ready)))
    }
    for (const ready of wanted.values()) this.#live.mount(ready)
    const settled = await this.#live.settle()
    const told = new Set(problems.map(({ row }) => row))
    return [...problems, ...settled.filter(({ row }) => !told.has(row))]
  }
}

function presetsPlugin(presets: Presets): Plugin {
  return definePlugin({
    name: 'core-presets',
    provides: ['presets'],
    apply: (ctx) => own(ctx, 'presets', presets),
  })
}
