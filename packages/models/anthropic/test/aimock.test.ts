import { LLMock } from '@copilotkit/aimock'
import { type Message, textOf, toolCallsOf } from '@cordage/core/message'
import { ask, makeRequest, say } from '@cordage/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeProvider } from './route.ts'

const request = (...messages: Message[]) => makeRequest('peer', 'claude-5', messages)

describe('anthropic-messages against aimock', () => {
  const mock = new LLMock({ host: '127.0.0.1', port: 0 })
  const provider = () => makeProvider({ baseURL: mock.url, apiKeyEnv: 'PEER_KEY' })

  beforeAll(async () => {
    mock.on({ userMessage: 'weather', hasToolResult: true }, { content: 'It is warm in Rome.' })
    mock.onMessage('weather', {
      toolCalls: [{ id: 'toolu_1', name: 'weather', arguments: '{"city":"Rome"}' }],
    })
    mock.onMessage('hello', {
      content: 'Hi there! 世界',
      reasoning: 'A greeting.',
      usage: { input_tokens: 12, output_tokens: 5 },
    })
    await mock.start()
  })
  afterAll(() => mock.stop())

  it('streams text, thinking and usage', async () => {
    const answer = await ask(provider(), request(say.system('Be kind.'), say.user('hello')))
    expect(textOf(answer)).toBe('Hi there! 世界')
    expect(answer.content[0]).toMatchObject({ type: 'reasoning', text: 'A greeting.' })
    expect(answer.finish).toBe('stop')
    expect(answer.usage).toMatchObject({ inputTokens: 12, outputTokens: 5 })
  })

  it('calls a tool and answers with its result', async () => {
    const asked = say.user('weather please')
    const first = await ask(provider(), request(asked))
    expect(first.finish).toBe('tool-calls')
    expect(toolCallsOf(first)).toEqual([
      { type: 'tool-call', id: 'toolu_1', name: 'weather', arguments: '{"city":"Rome"}' },
    ])
    const assistant = say.assistant('peer', 'claude-5', first.content)
    const result = say.tool('toolu_1', 'weather', [{ type: 'text', text: '27 degrees' }])
    expect(textOf(await ask(provider(), request(asked, assistant, result)))).toBe(
      'It is warm in Rome.',
    )
  })

  it('takes strict tools, and markers of a cache', async () => {
    const compat = { strictTools: true, cacheControl: 'markers' }
    const marking = makeProvider({ baseURL: mock.url, compat })
    const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
    const parameters = { ...city, additionalProperties: false }
    const tools = [{ name: 'weather', description: 'Tells the weather', parameters }]
    const messages = [say.system('Be kind.'), say.user('weather')]
    const answer = await ask(marking, makeRequest('peer', 'claude-5', messages, { tools }))
    expect(answer.finish).toBe('tool-calls')
    expect(mock.getLastRequest()?.response.status).toBe(200)
  })

  it('names an error that the server makes', async () => {
    mock.nextRequestError(529, { message: 'busy', type: 'overloaded_error' })
    await expect(ask(provider(), request(say.user('hello')))).rejects.toMatchObject({
      code: 'SERVER',
      retryable: true,
    })
  })
})
