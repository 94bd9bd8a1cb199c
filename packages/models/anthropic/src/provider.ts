import {
  accessRoute,
  declareModels,
  findModel,
  guardEvents,
  guardRequest,
  joinURL,
  modelError,
  type ModelProvider,
  type Surroundings,
} from '@cordage/core/model'
import { buildBody, type MessagesBody } from './body.ts'
import { openClient } from './client.ts'
import type { Route } from './config.ts'
import { readMessage } from './stream.ts'

/** A route that speaks the Messages API; its base URL ends before `/v1`. */
export function createProvider(id: string, route: Route, world: Surroundings): ModelProvider {
  const declared = declareModels(route.models)
  const access = accessRoute(route, world)
  const connect = async (model: string, path: string) => {
    const failing = { model, url: joinURL(access.baseURL(), path) }
    return { failing, client: await openClient(access, route.timeoutMs, failing) }
  }

  return {
    id,
    displayName: route.displayName,
    api: route.api,
    get baseURL() {
      return access.baseURL()
    },
    ...(route.apiKeyEnv === undefined ? {} : { apiKeyEnv: route.apiKeyEnv }),
    available: access.available,
    info: (model) => findModel(declared, model),
    declared: () => declared,
    list: async (signal) => {
      const { client, failing } = await connect(id, 'v1/models')
      const page = await guardRequest(failing, () => client.models.list({}, { signal }), signal)
      if (Array.isArray(page.data)) return page.data.map((model) => model.id)
      throw modelError('MALFORMED_RESPONSE', { model: id, reason: 'no list of models' })
    },
    body: (request) => buildBody(request, findModel(declared, request.model), route.compat),
    stream: async function* (request, body, { signal }) {
      const { client, failing } = await connect(`${id}/${request.model}`, 'v1/messages')
      const send = () => client.messages.create(body as MessagesBody, { signal })
      const events = readMessage(await guardRequest(failing, send, signal))
      yield* guardEvents(failing, events, signal)
    },
  }
}
