import { log, type Context, type Scope } from '../kernel/index.ts'
import type { PromptPart } from './prompt.ts'

/** Texts that are declared to stay, by the registration that gave them. */
type Given = Map<object, string>

/** Tells a person, once for each registration, what was declared `stable` and is not. */
export class StableTexts {
  readonly #ctx: Context
  readonly #sessions = new WeakMap<Scope, { readonly id: string; readonly given: Given }>()
  readonly #told = new WeakSet<object>()

  constructor(ctx: Context) {
    this.#ctx = ctx
  }

  check(scope: Scope, sessionId: string, written: ReadonlyMap<object, PromptPart>): void {
    const given = this.#givenIn(scope, sessionId)
    for (const [entry, part] of written) {
      const { id, row, text, stability } = part
      if (stability !== 'stable') continue
      const before = given.get(entry) ?? text
      given.set(entry, text)
      if (before === text || this.#told.has(entry)) continue
      this.#told.add(entry)
      const what = `row ${row} has changed its prompt part ${id} within a session and declares it stable`
      log(this.#ctx, 'warn', `${what}: declare it per-session or volatile`, { sessionId })
    }
  }

  #givenIn(scope: Scope, id: string): Given {
    const known = this.#sessions.get(scope)
    if (known?.id === id) return known.given
    const given: Given = new Map()
    this.#sessions.set(scope, { id, given })
    return given
  }
}
