import type { ContentPart, Message } from '@cordage/core/message'
import { makeRequest, say } from '@cordage/testkit'
import { describe, expect, it } from 'vitest'
import { makeProvider } from './route.ts'

const thinker = { id: 'm', input: ['text', 'image'], reasoningEfforts: { off: null, high: 'high' } }
const image: ContentPart = {
  type: 'image',
  blob: { hash: 'h', bytes: 3, mediaType: 'image/png' },
}
const request = (...messages: Message[]) => makeRequest('peer', 'm', messages)

const body = (fields: Record<string, unknown>, ...messages: Message[]) =>
  makeProvider({ models: [thinker], ...fields }).body(request(...messages))

describe('the body of Chat Completions', () => {
  it('names the output limit and the system role as the route says', async () => {
    const plain = await body({}, say.system('Be kind.'))
    expect(plain).toMatchObject({ max_tokens: 512, messages: [{ role: 'system' }] })
    const compat = { maxTokensField: 'max_completion_tokens', developerRole: true }
    const other = await body({ compat }, say.system('Be kind.'))
    expect(other).toMatchObject({ max_completion_tokens: 512, messages: [{ role: 'developer' }] })
    expect(other).not.toHaveProperty('max_tokens')
  })

  it.each([
    ['off', { thinking: { type: 'disabled' } }],
    ['high', { thinking: { type: 'enabled' }, reasoning_effort: 'high' }],
  ])('switches thinking as DeepSeek wants it for %s', async (effort, expected) => {
    const provider = makeProvider({ models: [thinker], compat: { thinkingFormat: 'deepseek' } })
    const asked = { ...request(say.user('hi')), params: { effort } }
    const made = (await provider.body(asked)) as Record<string, unknown>
    expect({ thinking: made.thinking, reasoning_effort: made.reasoning_effort }).toEqual({
      reasoning_effort: undefined,
      ...expected,
    })
    const silent = await provider.body(request(say.user('hi')))
    expect(silent).not.toHaveProperty('thinking')
  })

  it('sends the value of off beside the switch of DeepSeek where the model declares one', async () => {
    const models = [{ id: 'm', reasoningEfforts: { off: 'none' } }]
    const asked = { ...request(say.user('hi')), params: { effort: 'off' } }
    for (const thinkingFormat of ['openai', 'deepseek']) {
      const made = await makeProvider({ models, compat: { thinkingFormat } }).body(asked)
      expect(made).toMatchObject({ reasoning_effort: 'none' })
      expect('thinking' in (made as object)).toBe(thinkingFormat === 'deepseek')
    }
  })

  it('marks what a cache is to keep, where the route says so', async () => {
    const history = [say.system('Be kind.'), say.user('a'), say.user('b')]
    const made = await body({ compat: { cacheMarkers: true } }, ...history)
    const mark = { cache_control: { type: 'ephemeral' } }
    expect(made).toMatchObject({
      tools: [mark],
      messages: [
        { content: [mark] },
        { content: [{ type: 'text', text: 'a' }] },
        { content: [{ text: 'b', ...mark }] },
      ],
    })
    expect(JSON.stringify(made).match(/"cache_control"/g)).toHaveLength(3)
    expect(JSON.stringify(await body({}, ...history))).not.toContain('cache_control')
  })

  it('changes nothing but the marks where they go on to a later message', async () => {
    const history = [say.system('Be kind.'), say.user('a'), say.user('b')]
    const [before, now] = await Promise.all(
      [history, [...history, say.user('c')]].map(async (messages) => {
        const made = await body({ compat: { cacheMarkers: true } }, ...messages)
        return JSON.stringify(made).replaceAll(',"cache_control":{"type":"ephemeral"}', '')
      }),
    )
    expect(now?.startsWith(before!.slice(0, -']}'.length))).toBe(true)
  })

  it('gives reasoning back as the route says, and never to another one', async () => {
    const thought: ContentPart = { type: 'reasoning', text: 'hmm' }
    const call: ContentPart = { type: 'tool-call', id: 'c', name: 'f', arguments: '{}' }
    const plain = say.assistant('peer', 'm', [thought, { type: 'text', text: 'a' }])
    const calling = say.assistant('peer', 'm', [thought, call])
    const foreign = say.assistant('other', 'm', [thought, call])
    const given = async (reasoningContent: string) => {
      const made = await body({ compat: { reasoningContent } }, plain, calling, foreign)
      const { messages } = made as { messages: Record<string, unknown>[] }
      return messages.map((message) => message.reasoning_content)
    }
    expect(await given('none')).toEqual([undefined, undefined, undefined])
    // A call of another route has the field too, for the sake of servers that want it, but empty.
    expect(await given('tool-turns')).toEqual([undefined, 'hmm', ''])
    expect(await given('all')).toEqual(['hmm', 'hmm', ''])
  })

  it('lets images follow the results of a whole batch', async () => {
    const calls = ['a', 'b'].map((id): ContentPart => {
      return { type: 'tool-call', id, name: 'look', arguments: '{}' }
    })
    const made = await body(
      {},
      say.assistant('peer', 'm', calls),
      say.tool('a', 'look', [image as Extract<ContentPart, { type: 'image' }>]),
      say.tool('b', 'look', []),
      say.user('and?'),
    )
    const { messages } = made as { messages: { role: string; content: unknown }[] }
    expect(messages.map(({ role }) => role)).toEqual(['assistant', 'tool', 'tool', 'user', 'user'])
    expect(messages.map(({ content }) => content).slice(0, 3)).toEqual([
      '',
      '(images follow)',
      '(no output)',
    ])
    expect(JSON.stringify(messages[3])).toContain('data:image/png;base64,AQID')
  })
})
