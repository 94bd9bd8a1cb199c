import '@cordage/core/agent'
import type { Agent, ModelChoice } from '@cordage/core/agent'
import { definePlugin, mount, type Context, type RootContext } from '@cordage/core/kernel'
import type { RequestInput } from '@cordage/core/loop'
import type { ModelProvider } from '@cordage/core/model'
import { modes, type Mode } from '@cordage/core/policy'
import {
  SessionFold,
  type Fact,
  type RequestHeader,
  type Session,
  type SurfaceEntry,
} from '@cordage/core/session'
import { LiveSession, systemClock } from '@cordage/core/store'
import { compareRequest } from './comparison.ts'
import { Decisions } from './decisions.ts'
import type { Divergence } from './divergence.ts'
import { createMemoryLog } from './memory-log.ts'
import { Player } from './player.ts'
import { readTurns, type RecordedTurn } from './recording.ts'

export interface ReplayOptions {
  /** The tree that is tried. */
  readonly ctx: RootContext
  readonly session: Session
  readonly facts: readonly Fact[]
  /** For sessions that do not say so themselves. */
  readonly mode: Mode
  /** Routes of that name in other trees, which may make the recorded bytes. */
  readonly olderRoutes: (name: string) => AsyncIterable<ModelProvider>
  /** Whether the row that gave a snapshot is the same one in both trees. */
  readonly isCommon: (entry: SurfaceEntry) => boolean
}

export interface ReplayReport {
  readonly session: string
  readonly identical: boolean
  /** How far it came. */
  readonly turns: number
  readonly requests: number
  readonly calls: number
  /** At most one of each kind, all in one step: the first that is not as it was. */
  readonly divergences: readonly Divergence[]
  /** Snapshots that would say something else here and now; they were taken from the log. */
  readonly surroundings: readonly string[]
}

/** Has a tree take the turns of a session again, up to the first divergence. */
export async function replaySession(options: ReplayOptions): Promise<ReplayReport> {
  const replay = new Replay(options)
  const counts = { turns: 0, requests: 0, calls: 0 }
  let divergences: readonly Divergence[] = []
  for (const recorded of readTurns(options.facts)) {
    const choice = [...recorded.steps.values()].find((step) => step.choice)?.choice
    // A turn that came to no request has nothing that could be compared.
    if (!choice) continue
    const player = await replay.take(recorded, choice)
    counts.turns += 1
    counts.requests += player.requests
    counts.calls += player.played.size
    divergences = player.divergences
    if (divergences.length > 0) break
  }
  const surroundings = [...replay.surroundings].sort()
  const identical = divergences.length === 0
  return { session: options.session.id, identical, ...counts, divergences, surroundings }
}

class Replay {
  readonly surroundings = new Set<string>()
  readonly #options: ReplayOptions
  readonly #decisions = new Decisions()
  /** The log up to what is being replayed. */
  readonly #fold: SessionFold

  constructor(options: ReplayOptions) {
    this.#options = options
    this.#fold = new SessionFold({ lookup: (type) => options.ctx.sessions.events.get(type) })
  }

  /** Every turn begins where the log says it began, however the one before it ended. */
  async take(recorded: RecordedTurn, choice: ModelChoice): Promise<Player> {
    this.#advance(recorded.seq)
    const { ctx, session, facts } = this.#options
    const snapshot = { seq: recorded.seq, state: this.#fold.snapshot() }
    const log = createMemoryLog(session, facts, snapshot)
    const live = await LiveSession.open(log, {
      clock: systemClock,
      lookup: (type) => ctx.sessions.events.get(type),
    })
    const agent = await this.#spawn(live, recorded, choice)
    const player = new Player({
      recorded,
      agent,
      decisions: this.#decisions,
      compare: (input, attempt, played) => {
        this.#advance(attempt.start.seq)
        return compareRequest(this.#comparison(), input, attempt, played)
      },
    })
    const row = mount(ctx, playerRow(player))
    await row.settled()
    try {
      const outcome = await agent.wake()
      if (outcome) player.finish(outcome.reason, outcome.error?.message)
      else player.finish('blocked', 'nothing waits in the inbox')
    } finally {
      player.stopped = true
      await agent.close()
      await row.dispose()
    }
    this.#decisions.learn(recorded)
    return player
  }

  #spawn(live: LiveSession, { composition }: RecordedTurn, choice: ModelChoice): Promise<Agent> {
    const named = modes.find((mode) => mode === composition?.mode)
    return this.#options.ctx.agents.spawn({
      session: live,
      ...(composition ? { preset: composition.preset } : {}),
      choice,
      authority: {
        mode: named ?? this.#options.mode,
        writableRoots: composition?.writableRoots ?? [live.header.project],
      },
    })
  }

  #advance(seq: number): void {
    for (const fact of this.#options.facts.slice(this.#fold.nextSeq, seq)) this.#fold.add(fact)
  }

  #comparison() {
    const { ctx, session, olderRoutes, isCommon } = this.#options
    return {
      session,
      recorded: () => ({
        surface: this.#fold.surface,
        header: this.#fold.requestHeader as RequestHeader,
      }),
      route: (name: string) => ctx.models.resolve(name).route,
      olderRoutes,
      isCommon,
      sections: async (input: RequestInput) => (await assemble(ctx, input)).sections,
      onSurrounding: (id: string) => void this.surroundings.add(id),
    }
  }
}

/** The prompt once more, to say which section a byte is in. */
function assemble(ctx: RootContext, { agent, turn, step, signal, request }: RequestInput) {
  const { session } = agent
  return ctx.prompt.assemble(agent.scope, {
    sessionId: session.id,
    project: session.header.project,
    cwd: session.cwd,
    provider: request.provider,
    model: request.model,
    turn,
    step,
    toolNames: request.tools.map(({ name }) => name),
    signal,
  })
}

function playerRow(player: Player) {
  const plugin = definePlugin({ name: 'replay', apply: (ctx: Context) => player.attach(ctx) })
  return { id: 'replay', plugin, config: {}, timeoutMs: 10_000 }
}
