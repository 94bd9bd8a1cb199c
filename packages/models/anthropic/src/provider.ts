import {
  accessRoute,
  declareModels,
  findModel,
  guardRequest,
  joinURL,
  modelError,
  type ModelProvider,
  streamAnswer,
  type Surroundings,
} from '@cordage/core/model'
import { MessagesBodies, type MessagesBody } from './body.ts'
import { openClient } from './client.ts'
import type { Route } from './config.ts'
import { createMessageReader } from './stream.ts'
import { imageTokens } from './image-tokens.ts'

const ENDPOINT = 'v1/messages'

/** A route that speaks the Messages API; its base URL ends before `/v1`. */
export function createProvider(id: string, route: Route, world: Surroundings): ModelProvider {
  const declared = declareModels(route.models)
  const access = accessRoute(route, world)
  const bodies = new MessagesBodies(route.compat)
  const at = (model: string, path: string) => ({ model, url: joinURL(access.baseURL(), path) })

  return {
    id,
    displayName: route.displayName,
    api: route.api,
    get baseURL() {
      return access.baseURL()
    },
    ...(route.apiKeyEnv === undefined ? {} : { apiKeyEnv: route.apiKeyEnv }),
    endpoint: () => joinURL(access.baseURL(), ENDPOINT),
    available: access.available,
    imageTokens,
    info: (model) => findModel(declared, model),
    declared: () => declared,
    list: async (signal) => {
      const failing = at(id, 'v1/models')
      const ask = async () => {
        return (await openClient(access, route.timeoutMs, failing)).models.list({}, { signal })
      }
      const page = await guardRequest(failing, ask, signal)
      if (Array.isArray(page.data)) return page.data.map((model) => model.id)
      throw modelError('MALFORMED_RESPONSE', { model: id, reason: 'no list of models' })
    },
    body: (request) => bodies.build(request, findModel(declared, request.model)),
    stream: (request, body, { signal }) => {
      const failing = at(`${id}/${request.model}`, ENDPOINT)
      const open = async (both: AbortSignal) => {
        const client = await openClient(access, route.timeoutMs, failing)
        const sent = client.messages.create(body as MessagesBody, { signal: both })
        return sent.asResponse()
      }
      return streamAnswer(failing, open, createMessageReader(request), signal)
    },
  }
}
