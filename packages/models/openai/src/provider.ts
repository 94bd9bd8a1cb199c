import {
  accessRoute,
  declareModels,
  findModel,
  guardEvents,
  guardRequest,
  joinURL,
  modelError,
  type ModelEvent,
  type ModelProvider,
  type ModelRequest,
  type Surroundings,
} from '@cordage/core/model'
import type OpenAI from 'openai'
import { buildChatBody, type ChatBody } from './chat-body.ts'
import { readChat } from './chat-stream.ts'
import { openClient } from './client.ts'
import type { Route } from './config.ts'
import { buildResponsesBody, type ResponsesBody } from './responses-body.ts'
import { readResponses } from './responses-stream.ts'

/** A route that speaks Chat Completions or Responses. */
export function createProvider(id: string, route: Route, world: Surroundings): ModelProvider {
  const declared = declareModels(route.models)
  const access = accessRoute(route, world)
  const path = route.api === 'openai-responses' ? 'responses' : 'chat/completions'
  const connect = async (model: string | undefined, at: string) => {
    const failing = {
      model: model === undefined ? id : `${id}/${model}`,
      url: joinURL(access.baseURL(), at),
    }
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
      const { client, failing } = await connect(undefined, 'models')
      const page = await guardRequest(failing, () => client.models.list({ signal }), signal)
      if (Array.isArray(page.data)) return page.data.map((model) => model.id)
      throw modelError('MALFORMED_RESPONSE', { model: id, reason: 'no list of models' })
    },
    body: (request) => {
      const info = findModel(declared, request.model)
      return route.api === 'openai-responses'
        ? buildResponsesBody(request, info, route.compat)
        : buildChatBody(request, info, route.compat)
    },
    stream: async function* (request, body, { signal }) {
      signal.throwIfAborted()
      const { client, failing } = await connect(request.model, path)
      const send = () => open(client, route, request, body, signal)
      yield* guardEvents(failing, await guardRequest(failing, send, signal), signal)
    },
  }
}

async function open(
  client: OpenAI,
  { api }: Route,
  request: ModelRequest,
  body: unknown,
  signal: AbortSignal,
): Promise<AsyncIterable<ModelEvent>> {
  if (api === 'openai-responses') {
    return readResponses(await client.responses.create(body as ResponsesBody, { signal }), request)
  }
  return readChat(await client.chat.completions.create(body as ChatBody, { signal }), request)
}
