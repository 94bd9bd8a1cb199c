import type { ModelRequest, Models, ResolvedModel } from '../model/index.ts'
import {
  attemptStart,
  requestMessages,
  requestPrefix,
  type LoggedMessage,
  type NewFact,
  type RequestHeader,
  type Session,
  type SurfaceEntry,
} from '../session/index.ts'
import { BodyText, type WrittenBody } from './body-text.ts'
import { countSame } from './count-same.ts'
import { explainChange, type Sent } from './prefix-change.ts'
import { findBreak } from './prefix.ts'

interface LastSent extends Sent {
  /** Of its body; absent where it cannot be made any more. */
  readonly pieces?: readonly string[]
  /** It was sent by another process, or by other rows. */
  readonly resumed?: true
}

type Place = { readonly turn: number; readonly step: number; readonly attempt: number }

/** Makes the requests of one session, each from the one before it and what is new since. */
export class RequestMaker {
  readonly bodies = new BodyText()
  #route = ''
  #surface: readonly SurfaceEntry[] = []
  #messages: readonly LoggedMessage[] = []
  #sent: LastSent | undefined

  /** The request of a step: the surface and the logged header, nothing else. */
  build(session: Session, model: ResolvedModel): ModelRequest {
    return this.#make(session, session.surface, model)
  }

  /**
   * Makes the last request again that the log tells of, before anything else is told to a model:
   * what comes next is compared with it, and begins with what was made for it.
   */
  async recall(session: Session, models: Models): Promise<void> {
    const last = session.state(attemptStart)
    const header = session.requestHeader
    if (this.#sent || !last || !header) return
    const { seq, digest } = last
    const surface = session.surface.filter((entry) => entry.seq < seq)
    let sent: LastSent = { seq, header, surface, resumed: true }
    try {
      const model = models.resolve(`${header.provider}/${header.model}`)
      const body = await model.route.body(this.#make(session, surface, model))
      const written = this.bodies.write(body)
      if (written.digest === digest) sent = { ...sent, pieces: written.pieces }
    } catch {
      // A route or blob that is gone makes no body, so that there is none to begin with.
    }
    this.#sent ??= sent
  }

  /** Takes note of an attempt that begins, and says why it does not begin as the one before it. */
  begin(session: Session, written: WrittenBody, place: Place): NewFact[] {
    const { pieces } = written
    const before = this.#sent
    const header = session.requestHeader as RequestHeader
    this.#sent = { seq: session.nextSeq, header, surface: session.surface, pieces }
    if (!before) return []
    const same = before.pieces === written.before ? written.same : undefined
    const found = before.pieces ? findBreak(before.pieces, pieces, same) : {}
    if (!found) return []
    const { resumed } = before
    const changes = explainChange(before, session)
    return [requestPrefix({ ...place, ...found, ...(resumed ? { resumed } : {}), changes })]
  }

  #make(
    session: Session,
    surface: readonly SurfaceEntry[],
    { provider, model }: ResolvedModel,
  ): ModelRequest {
    const header = session.requestHeader as RequestHeader
    const messages = this.#messagesOf(surface, { provider, model })
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
