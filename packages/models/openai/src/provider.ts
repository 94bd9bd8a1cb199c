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
import { buildChatBody, type ChatBody } from './chat-body.ts'
import { ChatReader } from './chat-stream.ts'
import { openClient } from './client.ts'
import type { Route } from './config.ts'
import { buildResponsesBody, type ResponsesBody } from './responses-body.ts'
import { createResponsesReader } from './responses-stream.ts'

/** A route that speaks Chat Completions or Responses. */
export function createProvider(id: string, route: Route, world: Surroundings): ModelProvider {
  const declared = declareModels(route.models)
  const access = accessRoute(route, world)
  const api = () => (access.redirected() ? (route.redirectedApi ?? route.api) : route.api)
  const at = (model: string, path: string) => ({ model, url: joinURL(access.baseURL(), path) })

  return {
    id,
    displayName: route.displayName,
    get api() {
      return api()
    },
    get baseURL() {
      return access.baseURL()
    },
    ...(route.apiKeyEnv === undefined ? {} : { apiKeyEnv: route.apiKeyEnv }),
    available: access.available,
    info: (model) => findModel(declared, model),
    declared: () => declared,
    list: async (signal) => {
      const failing = at(id, 'models')
      const ask = async () => {
        return (await openClient(access, route.timeoutMs, failing)).models.list({ signal })
      }
      const page = await guardRequest(failing, ask, signal)
      if (Array.isArray(page.data)) return page.data.map((model) => model.id)
      throw modelError('MALFORMED_RESPONSE', { model: id, reason: 'no list of models' })
    },
    body: (request) => {
      const info = findModel(declared, request.model)
      return api() === 'openai-responses'
        ? buildResponsesBody(request, info, route.compat)
        : buildChatBody(request, info, route.compat)
    },
    stream: (request, body, { signal }) => {
      const responses = api() === 'openai-responses'
      const endpoint = responses ? 'responses' : 'chat/completions'
      const failing = at(`${id}/${request.model}`, endpoint)
      const client = () => openClient(access, route.timeoutMs, failing)
      if (responses) {
        const open = async () => {
          return (await client()).responses.create(body as ResponsesBody, { signal })
        }
        return streamAnswer(failing, open, createResponsesReader(request), signal)
      }
      const open = async () => {
        return (await client()).chat.completions.create(body as ChatBody, { signal })
      }
      return streamAnswer(failing, open, new ChatReader(request), signal)
    },
  }
}
