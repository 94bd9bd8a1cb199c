import {
  accessRoute,
  type AnswerReader,
  declareModels,
  findModel,
  guardRequest,
  joinURL,
  modelError,
  type ModelProvider,
  streamAnswer,
  type Surroundings,
} from '@cordage/core/model'
import { ChatBodies, type ChatBody } from './chat-body.ts'
import { ChatReader } from './chat-stream.ts'
import { openClient } from './client.ts'
import type { Route } from './config.ts'
import { ResponsesBodies, type ResponsesBody } from './responses-body.ts'
import { createResponsesReader } from './responses-stream.ts'
import { imageTokens } from './image-tokens.ts'

/** A route that speaks Chat Completions or Responses. */
export function createProvider(id: string, route: Route, world: Surroundings): ModelProvider {
  const declared = declareModels(route.models)
  const access = accessRoute(route, world)
  const chat = new ChatBodies(route.compat)
  const responses = new ResponsesBodies(route.compat)
  const api = () => (access.redirected() ? (route.redirectedApi ?? route.api) : route.api)
  const endpoint = () => (api() === 'openai-responses' ? 'responses' : 'chat/completions')
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
    endpoint: () => joinURL(access.baseURL(), endpoint()),
    available: access.available,
    imageTokens,
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
      const bodies = api() === 'openai-responses' ? responses : chat
      return bodies.build(request, findModel(declared, request.model))
    },
    stream: (request, body, { signal }) => {
      const isResponses = api() === 'openai-responses'
      const failing = at(`${id}/${request.model}`, endpoint())
      const open = async (both: AbortSignal) => {
        const client = await openClient(access, route.timeoutMs, failing)
        const sent = isResponses
          ? client.responses.create(body as ResponsesBody, { signal: both })
          : client.chat.completions.create(body as ChatBody, { signal: both })
        return sent.asResponse()
      }
      const reader = isResponses ? createResponsesReader(request) : new ChatReader(request)
      return streamAnswer(failing, open, reader as AnswerReader<unknown>, signal)
    },
  }
}
