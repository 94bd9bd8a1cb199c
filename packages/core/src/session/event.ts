import type { z } from 'zod'
import { deepFreeze } from './frozen-json.ts'

/**
 * One line of a session's log. `seq` is contiguous from 0, `time` is epoch milliseconds, `v` the
 * version of the record's own schema. Facts are frozen; unknown types and members are kept.
 */
export interface Fact<Data = unknown> {
  readonly seq: number
  readonly time: number
  readonly type: string
  readonly v: number
  readonly data: Data
}

/** A fact before the log has given it its place. */
export interface NewFact<Data = unknown> {
  readonly type: string
  readonly v: number
  readonly data: Data
}

/**
 * A kind of durable fact. `reduce` folds every fact of this type into one JSON value that a
 * snapshot can hold; it must be pure and must not keep what it is given. `visible` says whether
 * people see the fact in a transcript. Third-party types start with their package's name.
 */
export interface EventDefinition<Data, State = undefined> {
  readonly type: string
  readonly version: number
  readonly schema: z.ZodType<Data>
  readonly visible: boolean
  readonly initial: State
  readonly reduce: (state: State, fact: Fact<Data>) => State
  /** Makes a fact of this kind to append. */
  (data: Data): NewFact<Data>
  /** The fact as this version has it: data of an older one is brought up, nothing else changes. */
  upgraded(fact: Fact): Fact<Data>
  /** Narrows a fact that was read from a log; one of an older version is `upgraded` first. */
  is(fact: Fact | NewFact): fact is Fact<Data>
}

/** A definition whose data and state are known to its owner only. */
export type AnyEventDefinition = EventDefinition<unknown, unknown>

/** A fact as the definition of its type makes it, as in `FactOf<typeof toolCall>`. */
export type FactOf<Definition> =
  Definition extends EventDefinition<infer Data, infer _> ? Fact<Data> : never

interface EventOptions<Data, State> {
  readonly type: string
  readonly version?: number
  readonly schema: z.ZodType<Data>
  readonly visible?: boolean
  readonly initial?: State
  readonly reduce?: (state: State, fact: Fact<Data>) => State
  /** Makes data of an older version `v` what `version` has. The log keeps what was written. */
  readonly upgrade?: (data: unknown, v: number) => Data
}

/** Declares a kind of fact; `ctx.sessions.events` makes it known while the plugin is loaded. */
export function defineEvent<Data, State = undefined>(
  options: EventOptions<Data, State>,
): EventDefinition<Data, State> {
  const version = options.version ?? 1
  const make = (data: Data): NewFact<Data> => ({ type: options.type, v: version, data })
  const { upgrade } = options
  return Object.assign(make, {
    type: options.type,
    version,
    schema: options.schema,
    visible: options.visible ?? false,
    initial: options.initial as State,
    reduce: options.reduce ?? ((state: State) => state),
    upgraded: (fact: Fact) => {
      const data = upgrade && fact.v < version ? upgrade(fact.data, fact.v) : undefined
      return (data === undefined ? fact : deepFreeze({ ...fact, v: version, data })) as Fact<Data>
    },
    is: (fact: Fact | NewFact): fact is Fact<Data> => fact.type === options.type,
  })
}

/** Forgets the types, for tables of definitions; only facts of `definition.type` may be given it. */
export function anyEvent<Data, State>(
  definition: EventDefinition<Data, State>,
): AnyEventDefinition {
  return definition as unknown as AnyEventDefinition
}
