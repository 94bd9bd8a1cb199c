import { textMessage } from '@cordage/core/message'
import type { ModelProvider } from '@cordage/core/model'
import { cliError } from './errors.ts'

/** What a model said to one short request, and how long the whole of it took. */
export interface ShortAnswer {
  readonly text: string
  readonly ms: number
}

/** Sends one short request; throws the route's own error. */
export async function askShortly(
  route: ModelProvider,
  model: string,
  timeoutMs: number,
): Promise<ShortAnswer> {
  const prompt = textMessage('test', 'user', 'Answer with the one word: ready', { kind: 'user' })
  const request = {
    provider: route.id,
    model,
    messages: [{ message: prompt }],
    tools: [],
    params: {},
    getBlob: () => Promise.reject(cliError('USAGE', { reason: 'The request has no image.' })),
  }
  const startedAt = performance.now()
  const signal = AbortSignal.timeout(timeoutMs)
  let text = ''
  for await (const event of route.stream(request, await route.body(request), { signal })) {
    if (event.type === 'text') text += event.text
  }
  return { text, ms: Math.round(performance.now() - startedAt) }
}
