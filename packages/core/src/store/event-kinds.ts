import { assert, rowOf, type Context } from '../kernel/index.ts'
import {
  anyEvent,
  coreEvent,
  coreEvents,
  type AnyEventDefinition,
  type EventDefinition,
  type SessionEvents,
} from '../session/index.ts'

interface Registration {
  readonly definition: AnyEventDefinition
  readonly row: string
}

/** The kinds of fact that are known. A row may register its own once for each place it is in. */
export class EventKinds implements SessionEvents {
  readonly #registrations = new Map<string, readonly Registration[]>()

  register<Data, State>(ctx: Context, definition: EventDefinition<Data, State>): void {
    const { type } = definition
    const registration = { definition: anyEvent(definition), row: rowOf(ctx) }
    assert(!coreEvent(type), `${registration.row} cannot redefine ${type}, which is of core`)
    const [other] = this.#of(type)
    assert(
      !other || other.row === registration.row,
      `${registration.row} cannot define ${type}: ${other?.row} already does`,
    )
    ctx.effect(() => {
      this.#registrations.set(type, [...this.#of(type), registration])
      return () => this.#remove(type, registration)
    }, `event ${type}`)
  }

  get(type: string): AnyEventDefinition | undefined {
    // The newest: after a reload the old instance of a plugin may still be on its way out.
    return coreEvent(type) ?? this.#of(type).at(-1)?.definition
  }

  list(): readonly AnyEventDefinition[] {
    const others = [...this.#registrations.keys()].sort().map((type) => this.get(type))
    return [...coreEvents, ...others.filter((definition) => definition !== undefined)]
  }

  #of(type: string): readonly Registration[] {
    return this.#registrations.get(type) ?? []
  }

  #remove(type: string, registration: Registration): void {
    const rest = this.#of(type).filter((other) => other !== registration)
    if (rest.length > 0) this.#registrations.set(type, rest)
    else this.#registrations.delete(type)
  }
}
