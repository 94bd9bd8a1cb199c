import type { ModelRequest, ResolvedModel } from '../model/index.ts'
import { requestMessages, type RequestHeader, type Session } from '../session/index.ts'

/** The request of a step: the surface and the logged header, nothing else. */
export function buildRequest(session: Session, model: ResolvedModel): ModelRequest {
  const header = session.requestHeader as RequestHeader
  return Object.freeze({
    provider: model.provider,
    model: model.model,
    messages: requestMessages(session.surface, model),
    tools: header.tools,
    params: header.params,
    getBlob: (hash: string) => session.getBlob(hash),
  })
}
