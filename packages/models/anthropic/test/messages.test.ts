import type { ContentPart, Message } from '@cordage/core/message'
import {
  ask,
  makeRequest,
  type ModelPeer,
  say,
  startModelPeer,
  streamReply,
} from '@cordage/testkit'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { makeProvider } from './route.ts'

const request = (...messages: Message[]) => makeRequest('peer', 'm', messages)
const body = async (fields: Record<string, unknown>, ...messages: Message[]) =>
  (await makeProvider(fields).body(request(...messages))) as Record<string, unknown> & {
    messages: { role: string; content: Record<string, unknown>[] }[]
  }
const call = (id: string, text: string): ContentPart => {
  return { type: 'tool-call', id, name: 'f', arguments: text }
}

describe('the body of Messages', () => {
  it('collects the system prompt in front and marks what stays the same', async () => {
    const made = await body({}, say.system('One.'), say.user('hi'), say.system('Two.'))
    expect(made.system).toEqual([
      { type: 'text', text: 'One.' },
      { type: 'text', text: 'Two.', cache_control: { type: 'ephemeral' } },
    ])
    expect(made.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'hi' }] }])
    expect(made.tools).toMatchObject([{ name: 'weather', cache_control: { type: 'ephemeral' } }])
    expect(made.cache_control).toEqual({ type: 'ephemeral' })
  })

  it('marks the last message itself, or nothing, where the route says so', async () => {
    const marked = await body({ compat: { cacheControl: 'markers' } }, say.user('a'), say.user('b'))
    expect(marked.messages.map(({ content }) => content[0]?.cache_control)).toEqual([
      undefined,
      { type: 'ephemeral' },
    ])
    expect(marked).not.toHaveProperty('cache_control')
    const off = await body({ compat: { cacheControl: 'off' } }, say.system('s'), say.user('a'))
    expect(JSON.stringify(off)).not.toContain('cache_control')
  })

  it('answers the calls of one batch in one message, errors marked', async () => {
    const made = await body(
      {},
      say.assistant('peer', 'm', [call('a', '{"x":1}'), call('b', 'not json')]),
      say.tool('a', 'f', [{ type: 'text', text: 'fine' }]),
      say.tool('b', 'f', [], true),
      say.user('go on'),
    )
    expect(made.messages.map(({ role }) => role)).toEqual(['assistant', 'user', 'user'])
    expect(made.messages[0]?.content).toMatchObject([
      { type: 'tool_use', id: 'a', input: { x: 1 } },
      { type: 'tool_use', id: 'b', input: { invalid_arguments: 'not json' } },
    ])
    expect(made.messages[1]?.content).toMatchObject([
      { tool_use_id: 'a', content: [{ text: 'fine' }] },
      { tool_use_id: 'b', content: '(no output)', is_error: true },
    ])
  })

  it('leaves out blank texts and messages that are empty without them', async () => {
    const made = await body(
      {},
      say.user('a'),
      say.assistant('peer', 'm', [{ type: 'text', text: ' ' }]),
    )
    expect(made.messages).toHaveLength(1)
  })

  it('counts a thinking budget into the answer and drops the temperature', async () => {
    const models = [{ id: 'm', maxTokens: 8_000, reasoningEfforts: { off: null, high: 32_000 } }]
    const provider = makeProvider({ models, compat: { thinkingFormat: 'budget' } })
    const params = { effort: 'high', temperature: 0.2 }
    expect(await provider.body({ ...request(say.user('a')), params })).toMatchObject({
      max_tokens: 8_000,
      thinking: { type: 'enabled', budget_tokens: 8_000 - 1_024 },
    })
    const off = { effort: 'off', temperature: 0.2 }
    const made = await provider.body({ ...request(say.user('a')), params: off })
    expect(made).toMatchObject({ temperature: 0.2 })
    expect(made).not.toHaveProperty('thinking')
  })
})

describe('what a model of Messages takes', () => {
  const thinking = { compat: { thinkingFormat: 'budget' } }
  const models = [{ id: 'm', maxTokens: 8_000, reasoningEfforts: { high: 4_000 } }]
  const asked = async (...messages: Message[]) => {
    const params = { effort: 'high' }
    return makeProvider({ ...thinking, models }).body({ ...request(...messages), params })
  }

  it('thinks by a budget only where calls that wait for results came with thinking', async () => {
    const thought: ContentPart = { type: 'reasoning', text: 'hm', replay: { signature: 's' } }
    const calling = (...parts: ContentPart[]) => [
      say.user('a'),
      say.assistant('peer', 'm', [...parts, call('c', '{}')]),
      say.tool('c', 'f', []),
    ]
    expect(await asked(...calling(thought))).toHaveProperty('thinking')
    expect(await asked(...calling())).not.toHaveProperty('thinking')
    expect(await asked(...calling(), say.user('go on'))).toHaveProperty('thinking')
  })

  it('gets a later system prompt inside the history where it takes it there', async () => {
    const history = [say.system('One.'), say.user('hi'), say.system('Two.')]
    const later = [{ id: 'm', systemPromptUpdate: 'in-history' }]
    const made = await body({ models: later }, ...history)
    expect(made.system).toMatchObject([{ text: 'One.' }])
    expect(made.messages).toMatchObject([
      { role: 'user' },
      { role: 'system', content: [{ text: 'Two.' }] },
    ])
  })

  it('is asked for exact arguments where the route says so', async () => {
    const parameters = { type: 'object', properties: {}, additionalProperties: false }
    const tools = [{ name: 'f', description: 'x', parameters }]
    const strict = { ...request(say.user('a')), tools }
    const provider = makeProvider({ compat: { strictTools: true } })
    expect(await provider.body(strict)).toMatchObject({ tools: [{ strict: true }] })
    expect(JSON.stringify(await makeProvider({}).body(strict))).not.toContain('strict')
  })
})

const named = (type: string, value: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...value })}`

describe('Messages streams', () => {
  let peer: ModelPeer
  beforeAll(async () => void (peer = await startModelPeer()))
  afterEach(() => peer.reset())
  afterAll(() => peer.close())

  const read = async (...events: string[]) => {
    peer.reply(streamReply(events))
    return ask(makeProvider({ baseURL: peer.url }), request(say.user('hi')))
  }
  const end = (reason: string, usage: object = { output_tokens: 3 }) => [
    named('message_delta', { delta: { stop_reason: reason }, usage }),
    named('message_stop', {}),
  ]

  it('keeps hidden thinking and gives it back', async () => {
    const hidden = { type: 'redacted_thinking', data: 'opaque' }
    const answer = await read(
      named('content_block_start', { index: 0, content_block: hidden }),
      ...end('end_turn'),
    )
    expect(answer.content).toEqual([
      { type: 'reasoning', text: '', replay: { redacted: 'opaque' } },
    ])
    const made = await body({}, say.assistant('peer', 'm', answer.content))
    expect(made.messages[0]?.content).toEqual([hidden])
    expect((await body({}, say.assistant('peer', 'n', answer.content))).messages).toEqual([])
  })

  it('adds up what the cache read and wrote, and keeps counts that come once', async () => {
    const counts = {
      input_tokens: 2,
      cache_read_input_tokens: 30,
      cache_creation_input_tokens: 400,
      output_tokens: 1,
    }
    const answer = await read(
      named('message_start', { message: { usage: counts } }),
      ...end('end_turn', { output_tokens: 50, cache_read_input_tokens: null }),
    )
    expect(answer.usage).toEqual({
      inputTokens: 432,
      outputTokens: 50,
      cacheReadTokens: 30,
      cacheWriteTokens: 400,
    })
  })
})
