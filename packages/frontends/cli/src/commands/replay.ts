import type { Composition } from '@cordage/core/compose'
import { isHarnessError } from '@cordage/core/error'
import type { RootContext } from '@cordage/core/kernel'
import type { ModelProvider } from '@cordage/core/model'
import type { Mode } from '@cordage/core/policy'
import {
  attemptStart,
  sessionComposition,
  type ComposedRow,
  type Fact,
  type Session,
  type SurfaceEntry,
} from '@cordage/core/session'
import { composeRequestOf, mountProfile } from '../boot/boot.ts'
import { composeProfile, type ComposedProfile, type ComposeRequest } from '../boot/layers.ts'
import { composedRows } from '../boot/note-composition.ts'
import { jsonText } from '../print/table.ts'
import { bisectRows, type Bisection } from '../replay/bisect.ts'
import { replaySession, type ReplayReport } from '../replay/replay.ts'
import { bisectionText, reportText } from '../replay/report-text.ts'
import { differingRows, mixTrees, type RowKey } from '../replay/trees.ts'
import { cliError } from './errors.ts'
import { bootOptionsOf, type ListOptions } from './options.ts'
import { completeId } from './session-id.ts'
import { logToStderr, withHarness } from './with-harness.ts'

export interface ReplayCommandOptions extends ListOptions {
  readonly bisect: boolean
  readonly permission?: Mode
}

/** Takes a session's turns again in the present tree. Exits 1 where something is not as it was. */
export async function replay(given: string, options: ReplayCommandOptions): Promise<number> {
  // The session is read by a tree without overlays: what they break is to be found out.
  return withHarness({ ...options, patch: [] }, async ({ ctx }) => {
    const sessions = ctx.get('sessions')
    if (!sessions) throw cliError('USAGE', { reason: 'This profile keeps no sessions.' })
    const session = await sessions.open(await completeId(ctx, given), { mode: 'read' })
    try {
      const facts: Fact[] = []
      for await (const fact of session.read(0)) facts.push(fact)
      if (!facts.some(attemptStart.is)) throw cliError('REPLAY_EMPTY', { id: session.id })
      const trial = new Trial({ ctx, session, facts, options })
      const report = await trial.run()
      const bisection = options.bisect && !report.identical ? await trial.bisect() : undefined
      const json = { ...report, ...(bisection ? { bisection } : {}) }
      const text = reportText(report) + (bisection ? bisectionText(bisection) : '')
      process.stdout.write(options.output === 'json' ? jsonText(json) : text)
      return report.identical ? 0 : 1
    } finally {
      await session.close()
    }
  })
}

interface TrialOptions {
  /** The tree without overlays. */
  readonly ctx: RootContext
  readonly session: Session
  readonly facts: readonly Fact[]
  readonly options: ReplayCommandOptions
}

class Trial {
  readonly #given: TrialOptions
  readonly #request: ComposeRequest
  readonly #composed: ComposedProfile
  readonly #recorded: readonly ComposedRow[] | undefined

  constructor(given: TrialOptions) {
    this.#given = given
    this.#request = composeRequestOf(bootOptionsOf(given.options))
    this.#composed = composeProfile(this.#request)
    this.#recorded = given.facts.findLast(sessionComposition.is)?.data.rows
  }

  run(composition: Composition = this.#composed.composition): Promise<ReplayReport> {
    const { session, facts, options } = this.#given
    return this.#boot(composition, (ctx) =>
      replaySession({
        ctx,
        session,
        facts,
        mode: options.permission ?? 'workspace-write',
        olderRoutes: (name) => this.#olderRoutes(name),
        isCommon: this.#isCommon(composition),
      }),
    )
  }

  /** Over the rows that are not as the session had them; where it does not say, of the overlays. */
  bisect(): Promise<Bisection> {
    const { composition } = this.#composed
    const { patch } = this.#given.options
    const before = this.#recorded ?? (patch.length > 0 ? this.#base() : undefined)
    if (!before) throw cliError('REPLAY_NO_COMPOSITION', { id: this.#given.session.id })
    const differing = differingRows(before, composedRows(composition))
    return bisectRows(differing, (taken) => this.#differs(before, taken))
  }

  /** A tree that does not even start is another one than it was. */
  async #differs(before: readonly ComposedRow[], taken: ReadonlySet<RowKey>): Promise<boolean> {
    try {
      const mixed = mixTrees(before, this.#composed.composition, taken, this.#request.env)
      return !(await this.run(mixed)).identical
    } catch (error) {
      if (isHarnessError(error, 'COMPOSE_REJECTED')) return true
      throw error
    }
  }

  #base(): readonly ComposedRow[] {
    return composedRows(composeProfile({ ...this.#request, patches: [] }).composition)
  }

  /** The routes of the tree without overlays, then those that the session itself had. */
  async *#olderRoutes(name: string): AsyncIterable<ModelProvider> {
    yield* routeOf(this.#given.ctx, name)
    if (!this.#recorded) return
    const { composition } = this.#composed
    const nothing = new Set<RowKey>()
    const old = mixTrees(this.#recorded, composition, nothing, this.#request.env)
    const found: ModelProvider[] = []
    try {
      await this.#boot(old, async (ctx) => void found.push(...routeOf(ctx, name)))
    } catch (error) {
      // A row that is not installed any more: the tree that had it cannot be asked.
      if (!isHarnessError(error, 'COMPOSE_REJECTED')) throw error
    }
    yield* found
  }

  #isCommon(composition: Composition): (entry: SurfaceEntry) => boolean {
    const now = composedRows(composition)
    const before = this.#recorded ?? now
    const differing = new Set(differingRows(before, now).map((key) => key.split('/').at(-1)))
    return ({ message: { source } }) => {
      if (source.kind !== 'plugin') return false
      return now.some(({ id }) => id === source.row) && !differing.has(source.row)
    }
  }

  async #boot<T>(composition: Composition, use: (ctx: RootContext) => Promise<T>): Promise<T> {
    const { profile, layers } = this.#composed
    const log = this.#given.options.debug ? { log: logToStderr } : {}
    // An overlay in name: a boot with one is no measure for the next.
    const marked = [...layers, { kind: 'overlay', name: 'replay', file: '', text: '[]' } as const]
    // It reads the log on the disk, which is not that of the replay.
    const rows = composition.rows.filter(({ id }) => id !== 'policy-rebuild')
    const tree = { ...composition, rows }
    const composed = { profile, layers: marked, composition: tree, request: this.#request }
    const harness = await mountProfile({ ...composed, options: log })
    try {
      return await use(harness.ctx)
    } finally {
      await harness.close()
    }
  }
}

function routeOf(ctx: RootContext, name: string): ModelProvider[] {
  try {
    return [ctx.models.resolve(name).route]
  } catch {
    // That the tree has no such route is the answer.
    return []
  }
}
