import { isDeepStrictEqual } from 'node:util'
import { assert, definePlugin, log, mount, own } from '../kernel/index.ts'
import type { Context, Mounted, Plugin, Services } from '../kernel/index.ts'
import type { Composition } from './composition.ts'
import { fail, rejected } from './errors.ts'
import { LiveRows } from './live-rows.ts'
import { preflight } from './preflight.ts'
import type { Loader, Prepared, PreparedRow, ReadyRow } from './preflight.ts'
import { createPresets } from './presets.ts'
import type { Presets } from './presets.ts'
import type { Problem } from './problem.ts'
import { reportDisabled } from './row-report.ts'
import type { RowReport } from './row-report.ts'

/** What closing met; rows in `hung` did not stop in time and were left behind. */
export interface CloseReport {
  hung: string[]
}

/** Keeps what is mounted equal to the composition that was applied last. */
export interface Composer {
  /**
   * Mounts the difference to what runs. Throws COMPOSE_REJECTED with every reason in
   * `details.problems`, after restoring what ran before; the first time that is nothing.
   */
  apply(composition: Composition): Promise<RowReport[]>
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

  apply(composition: Composition): Promise<RowReport[]> {
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

  async #apply(composition: Composition): Promise<RowReport[]> {
    const { state } = await this.#presets.settled()
    assert(state === 'active', 'a root has one composer, which provides ctx.presets')
    // What the host provided on the root before; of a plain plugin's service we cannot know.
    const given = (service: string): boolean =>
      this.#root.get(service as keyof Services) !== undefined && !this.#live.provides(service)
    const options = { timeoutMs: this.#timeoutMs, given }
    const prepared = await preflight(composition, this.#loader, options)
    if (prepared.problems.length > 0) throw rejected(prepared.problems)
    const before = this.#prepared
    // Rows may ask for presets while they start.
    this.#prepared = prepared
    const problems = await this.#transition(prepared.rows)
    if (problems.length === 0) return this.report()
    this.#prepared = before
    await this.#restore(before?.rows ?? [])
    throw rejected(problems)
  }

  async #restore(rows: readonly PreparedRow[]): Promise<void> {
    for (const { message } of await this.#transition(rows)) {
      log(this.#root, 'error', `restoring the composition before: ${message}`)
    }
  }

  /** Makes the live rows equal to `target`, as far as that goes; gives what does not. */
  async #transition(target: readonly PreparedRow[]): Promise<Problem[]> {
    const wanted = new Map(
      target.filter((row) => row.state === 'ready').map((row) => [row.row.id, row]),
    )
    // Removals come first: a second provider of a service would fail and stay failed.
    for (const id of this.#live.newestFirst()) {
      const [next, live] = [wanted.get(id), this.#live.get(id)!]
      const stays = next !== undefined && sameCode(next, live) && !this.#live.failed(id)
      if (!stays) await this.#live.unmount(id)
    }
    const problems: Problem[] = []
    for (const ready of wanted.values()) problems.push(...(await this.#update(ready)))
    for (const [id, ready] of wanted) if (this.#live.get(id) === undefined) this.#live.mount(ready)
    const settled = await this.#live.settle()
    const told = new Set(problems.map(({ row }) => row))
    return [...problems, ...settled.filter(({ row }) => !told.has(row))]
  }

  async #update(ready: ReadyRow): Promise<Problem[]> {
    const live = this.#live.get(ready.row.id)
    if (live === undefined) return []
    if (!isDeepStrictEqual(live.row.config, ready.row.config)) {
      const found = await this.#live.update(ready)
      return found === undefined ? [] : [found]
    }
    this.#live.replace(ready)
    return []
  }
}

function sameCode(a: ReadyRow, b: ReadyRow): boolean {
  return a.plugin === b.plugin && a.file === b.file
}

function presetsPlugin(presets: Presets): Plugin {
  return definePlugin({
    name: 'core-presets',
    provides: ['presets'],
    apply: (ctx) => own(ctx, 'presets', presets),
  })
}
