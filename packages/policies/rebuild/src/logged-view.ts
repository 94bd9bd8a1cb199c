import type { ModelRequest } from '@cordage/core/model'
import {
  canonical,
  requestMessages,
  type LoggedMessage,
  type Session,
  type SurfaceEntry,
} from '@cordage/core/session'

/** What the facts of one session say a request has to be; what was found equal is not looked at again. */
export class LoggedView {
  /** How many were compared. */
  requests = 0
  readonly #session: Session
  #surface: readonly SurfaceEntry[] = []
  #messages: readonly LoggedMessage[] = []

  constructor(session: Session) {
    this.#session = session
  }

  /** Why `request` is not the one that the facts give. */
  compare(request: ModelRequest): string | undefined {
    this.requests += 1
    const { surface, requestHeader } = this.#session
    const { messages } = request
    if (messages.length !== surface.length) {
      return `it has ${messages.length} messages where the log gives ${surface.length}`
    }
    const known = this.#countKnown(surface, messages)
    const logged = requestMessages(surface.slice(known), request)
    const differs = logged.findIndex((message, at) => !isSame(message, messages[known + at]))
    if (differs >= 0) return `its message ${known + differs + 1} is not the logged one`
    this.#surface = surface
    this.#messages = messages
    const { tools, params, provider, model } = request
    const header = { provider, model, params, tools }
    const entries = Object.entries(header) as [keyof typeof header, unknown][]
    const other = entries.find(([name, value]) => !isSame(requestHeader?.[name], value))
    return other && `its ${other[0]} is not the logged one`
  }

  #countKnown(surface: readonly SurfaceEntry[], messages: readonly LoggedMessage[]): number {
    let known = 0
    while (
      known < surface.length &&
      surface[known] === this.#surface[known] &&
      messages[known] === this.#messages[known]
    ) {
      known += 1
    }
    return known
  }
}

function isSame(logged: unknown, used: unknown): boolean {
  return logged === used || canonical(throughJson(logged)) === canonical(used)
}

/** As whoever reads the log has it. */
function throughJson(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}
