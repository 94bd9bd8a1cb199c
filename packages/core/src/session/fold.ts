import { assert } from '../kernel/index.ts'
import { addUsage, NO_USAGE, type Usage } from '../message/index.ts'
import {
  compactionEnd,
  compactionPrune,
  compactionStart,
  compactionSummary,
} from './compaction-events.ts'
import { coreEvent } from './core-events.ts'
import { anyEvent, type AnyEventDefinition, type EventDefinition, type Fact } from './event.ts'
import { deepFreeze } from './frozen-json.ts'
import { inboxSplice, type InboxState } from './inbox-events.ts'
import { spentSchema } from './message-schema.ts'
import { requestHeader, type RequestHeader } from './request-events.ts'
import { sessionDirectory } from './session-events.ts'
import type { TurnState } from './session.ts'
import { StateFold, type ReportReducer, type StateSnapshot } from './state-fold.ts'
import { SurfaceFold, type SurfaceSnapshot } from './surface-fold.ts'
import type { SurfaceEntry } from './surface.ts'
import { foldTurn, NO_TURN } from './turn-fold.ts'

/** JSON of a whole `SessionFold`: what a store keeps as `Snapshot.state`. */
export interface FoldSnapshot {
  readonly format: 1
  readonly nextSeq: number
  readonly turn: TurnState
  readonly surface: SurfaceSnapshot
  readonly compactions: Readonly<Record<string, readonly Fact[]>>
  readonly states: StateSnapshot
  /** Absent in what older versions kept, which counted compactions alone. */
  readonly spent?: Usage
}

export interface FoldOptions {
  /** Where to begin instead of at fact 0. It is frozen and kept, not copied. */
  readonly snapshot?: FoldSnapshot | undefined
  /** Definitions besides those of core. */
  readonly lookup?: (type: string) => AnyEventDefinition | undefined
  readonly report?: ReportReducer
}

/** Everything a session knows from its log. Facts go in strictly by `seq`; nothing else does. */
export class SessionFold {
  #nextSeq: number
  #turn: TurnState
  readonly #surface: SurfaceFold
  /** Facts of compactions that have begun and not ended: no effect until they end well. */
  readonly #compactions: Map<string, readonly Fact[]>
  readonly #states: StateFold
  readonly #lookup: (type: string) => AnyEventDefinition | undefined
  #spent: Usage | undefined

  constructor(options: FoldOptions = {}) {
    const snapshot = deepFreeze(options.snapshot)
    this.#nextSeq = snapshot?.nextSeq ?? 0
    this.#turn = snapshot?.turn ?? NO_TURN
    this.#surface = new SurfaceFold(snapshot?.surface)
    this.#compactions = new Map(Object.entries(snapshot?.compactions ?? {}))
    this.#spent = snapshot?.spent ?? spentBefore(snapshot?.states)
    this.#states = new StateFold(snapshot?.states, options.report ?? (() => {}))
    this.#lookup = (type) => coreEvent(type) ?? options.lookup?.(type)
  }

  add(fact: Fact): void {
    assert(fact.seq === this.#nextSeq, `fact ${fact.seq} came when ${this.#nextSeq} was next`)
    this.#nextSeq += 1
    this.#states.add(fact, this.#lookup(fact.type))
    this.#addSpent(fact.data)
    const core = coreEvent(fact.type)
    // A record of a later version may mean anything; as an unknown one it is kept, not guessed at.
    if (!core || fact.v > core.version) return
    const known = core.upgraded(fact)
    this.#turn = foldTurn(this.#turn, known)
    this.#surface.add(known)
    this.#foldCompaction(known)
  }

  get nextSeq(): number {
    return this.#nextSeq
  }

  get surface(): readonly SurfaceEntry[] {
    return this.#surface.entries
  }

  get shadowedContexts(): readonly string[] {
    return this.#surface.shadowedContexts
  }

  /** What calls of models took that were no attempts: every `spent`, of whatever type of fact. */
  get spent(): Usage {
    return this.#spent ?? NO_USAGE
  }

  get turn(): TurnState {
    return this.#turn
  }

  /** Ids of compactions that have begun and not ended. */
  get openCompactions(): readonly string[] {
    return [...this.#compactions.keys()]
  }

  get inbox(): InboxState {
    return this.state(inboxSplice)
  }

  get requestHeader(): RequestHeader | undefined {
    return this.state(requestHeader)
  }

  /** The last `session/directory`. */
  get directory(): string | undefined {
    return this.state(sessionDirectory)
  }

  state<Data, State>(definition: EventDefinition<Data, State>): State {
    return this.#states.get(anyEvent(definition)) as State
  }

  snapshot(): FoldSnapshot {
    return {
      format: 1,
      nextSeq: this.#nextSeq,
      turn: this.#turn,
      surface: this.#surface.toJSON(),
      compactions: Object.fromEntries(this.#compactions),
      states: this.#states.toJSON(),
      ...(this.#spent ? { spent: this.#spent } : {}),
    }
  }

  #addSpent(data: unknown): void {
    if (typeof data !== 'object' || data === null || !('spent' in data)) return
    const { usage } = spentSchema.safeParse(data.spent).data ?? {}
    if (usage) this.#spent = addUsage(this.spent, usage)
  }

  #foldCompaction(fact: Fact): void {
    if (compactionStart.is(fact)) {
      this.#compactions.set(fact.data.id, [])
    } else if (compactionSummary.is(fact) || compactionPrune.is(fact)) {
      const staged = this.#compactions.get(fact.data.id)
      if (staged) this.#compactions.set(fact.data.id, [...staged, fact])
    } else if (compactionEnd.is(fact)) {
      const staged = fact.data.error ? [] : (this.#compactions.get(fact.data.id) ?? [])
      this.#compactions.delete(fact.data.id)
      for (const part of staged) this.#surface.compact(part)
    }
  }
}

/** What the states of an older snapshot say was spent on compactions. */
function spentBefore(snapshot: StateSnapshot | undefined): Usage | undefined {
  const ended = snapshot?.states[compactionEnd.type] as { readonly total?: Usage } | undefined
  return ended?.total
}
