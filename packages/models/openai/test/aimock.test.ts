import { LLMock } from '@copilotkit/aimock'
import { type Message, textOf, toolCallsOf } from '@cordage/core/message'
import { ask, makeRequest, say } from '@cordage/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeProvider } from './route.ts'

const weather = {
  name: 'weather',
  description: 'Tells the weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}

const request = (...messages: Message[]) => makeRequest('peer', 'gpt-5.5', messages)

describe.each(['openai-completions', 'openai-responses'])('%s against aimock', (api) => {
  const mock = new LLMock({ host: '127.0.0.1', port: 0 })
  const provider = () => makeProvider({ api, baseURL: `${mock.url}/v1`, apiKeyEnv: 'PEER_KEY' })

  beforeAll(async () => {
    mock.on({ userMessage: 'weather', hasToolResult: true }, { content: 'It is warm in Rome.' })
    mock.onMessage('weather', {
      toolCalls: [{ id: 'call_1', name: 'weather', arguments: '{"city":"Rome"}' }],
    })
    mock.onMessage('hello', { content: 'Hi there! 世界', reasoning: 'A greeting.' })
    await mock.start()
  })
  afterAll(() => mock.stop())

  it('streams text and reasoning', async () => {
    const answer = await ask(provider(), request(say.system('Be kind.'), say.user('hello')))
    expect(textOf(answer)).toBe('Hi there! 世界')
    expect(answer.finish).toBe('stop')
    expect(answer.hasReasoning).toBe(true)
    // Over Responses this server counts nothing, so that the tokens are estimated.
    const counted = api === 'openai-completions'
    expect(answer.usage !== undefined).toBe(counted)
  })

  it('calls a tool and answers with its result', async () => {
    const asked = say.user('weather please')
    const first = await ask(provider(), request(asked))
    expect(first.finish).toBe('tool-calls')
    expect(toolCallsOf(first)).toEqual([
      { type: 'tool-call', id: 'call_1', name: 'weather', arguments: '{"city":"Rome"}' },
    ])
    const assistant = say.assistant('peer', 'gpt-5.5', first.content)
    const result = say.tool('call_1', 'weather', [{ type: 'text', text: '27 degrees' }])
    const second = await ask(provider(), request(asked, assistant, result))
    expect(textOf(second)).toBe('It is warm in Rome.')
  })

  it('takes strict tools, and markers of a cache', async () => {
    const closed = {
      ...weather,
      parameters: { ...weather.parameters, additionalProperties: false },
    }
    const compat = { strictTools: true, cacheMarkers: true }
    const marking = makeProvider({ api, baseURL: `${mock.url}/v1`, compat })
    const asked = makeRequest('peer', 'gpt-5.5', [say.system('Be kind.'), say.user('weather')], {
      tools: [closed],
    })
    expect((await ask(marking, asked)).finish).toBe('tool-calls')
    const { response, body } = mock.getLastRequest() ?? {}
    expect(response?.status).toBe(200)
    // What comes over Responses the server keeps without either.
    if (api === 'openai-responses') return
    const sent = JSON.stringify(body)
    expect(sent).toContain('"strict":true')
    expect(sent.match(/"cache_control"/g)).toHaveLength(3)
  })

  it('names an error that the server makes', async () => {
    mock.nextRequestError(429, { message: 'slow down', type: 'rate_limit_error' })
    await expect(ask(provider(), request(say.user('hello')))).rejects.toMatchObject({
      code: 'RATE_LIMIT',
      retryable: true,
    })
  })

  it('lists models', async () => {
    const ids = await provider().list(new AbortController().signal)
    expect(Array.isArray(ids)).toBe(true)
  })
})
