import type { ModelRequest, ResolvedModel } from '../model/index.ts'
import {
  requestMessages,
  type LoggedMessage,
  type RequestHeader,
  type Session,
  type SurfaceEntry,
} from '../session/index.ts'
import { BodyText } from './body-text.ts'
import { countSame } from './count-same.ts'

/** Makes the requests of one session, each from the one before it and what is new since. */
export class RequestMaker {
  readonly bodies = new BodyText()
  #route = ''
  #surface: readonly SurfaceEntry[] = []
  #messages: readonly LoggedMessage[] = []

  /** The request of a step: the surface and the logged header, nothing else. */
  build(session: Session, { provider, model }: ResolvedModel): ModelRequest {
    const header = session.requestHeader as RequestHeader
    const messages = this.#messagesOf(session.surface, { provider, model })
    return Object.freeze({
      provider,
      model,
      messages,
      tools: header.tools,
      params: header.params,
      getBlob: (hash: string) => session.getBlob(hash),
    })
  }

  #messagesOf(
    surface: readonly SurfaceEntry[],
    route: { readonly provider: string; readonly model: string },
  ): readonly LoggedMessage[] {
    const name = `${route.provider}/${route.model}`
    const same = name === this.#route ? countSame(this.#surface, surface) : 0
    const known = this.#messages.slice(0, same)
    this.#messages = known.concat(requestMessages(surface.slice(same), route))
    this.#surface = surface
    this.#route = name
    return [...this.#messages]
  }
}
