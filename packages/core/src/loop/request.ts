import type { ModelRequest, ResolvedModel } from '../model/index.ts'
import type { RequestHeader, Session, SurfaceEntry } from '../session/index.ts'

/** The request of a step: the surface and the logged header, nothing else. */
export function buildRequest(session: Session, model: ResolvedModel): ModelRequest {
  const header = session.requestHeader as RequestHeader
  const { provider, params, tools } = header
  return Object.freeze({
    provider,
    model: model.model,
    messages: session.surface.map((entry) => withReplay(entry, model)),
    tools,
    params,
    getBlob: (hash: string) => session.getBlob(hash),
  })
}

/** Replay state belongs to the route that made it; another one must not be given it. */
function withReplay(entry: SurfaceEntry, model: ResolvedModel) {
  const { message, replay } = entry
  const { source } = message
  const own =
    source.kind === 'model' && source.provider === model.provider && source.model === model.model
  return own && replay !== undefined ? { message, replay } : { message }
}
