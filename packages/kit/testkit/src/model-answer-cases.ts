import { textOf, toolCallsOf } from '@cordage/core/message'
import { expect, test } from 'vitest'
import { ask, say } from './model-conversation.ts'
import type { ModelFixture } from './model-fixture.ts'

/** Calls, their ids and their results. */
export function callCases(on: ModelFixture): void {
  test('joins two interleaved calls and sends their results back by id', async () => {
    const calls = [
      { id: 'call_a', name: 'weather', arguments: ['{"city":', '"Rome"}'] },
      { id: 'call_b', name: 'weather', arguments: ['{"city":"Oslo"}'] },
    ]
    on.peer.reply(on.stream({ text: ['Let me see.'], calls }), on.stream({ text: ['Warm.'] }))
    const first = [say.system('Be kind.'), say.user('weather?')]
    const answer = await ask(on.provider, on.request(...first))
    expect(answer.finish).toBe('tool-calls')
    expect(toolCallsOf(answer).map((call) => [call.id, call.arguments])).toEqual([
      ['call_a', '{"city":"Rome"}'],
      ['call_b', '{"city":"Oslo"}'],
    ])

    const results = ['call_a', 'call_b'].map((id) =>
      say.tool(id, 'weather', [{ type: 'text', text: `result of ${id}` }]),
    )
    const assistant = say.assistant('peer', on.subject.model, answer.content)
    const second = await ask(on.provider, on.request(...first, assistant, ...results))
    expect(textOf(second)).toBe('Warm.')
    const [before, after] = on.peer.requests.map(({ text }) => text)
    expect(after).toContain('result of call_a')
    expect(after?.match(/"call_b"/g)).toHaveLength(2)
    // The end of a body closes its list of messages; all before it must stay as it was.
    expect(after?.startsWith(before?.slice(0, -2) ?? '-')).toBe(true)
  })

  test('gives every call an id of its own when a server repeats or omits them', async () => {
    on.peer.reply(on.stream({ calls: [call('x', 'Rome'), call('x', 'Oslo'), call('', 'Bern')] }))
    const calls = toolCallsOf(await ask(on.provider, on.request(say.user('weather?'))))
    expect(calls.map(({ arguments: text }) => text)).toEqual(
      ['Rome', 'Oslo', 'Bern'].map((city) => JSON.stringify({ city })),
    )
    expect(new Set(calls.map(({ id }) => id)).size).toBe(3)
    expect(calls.every(({ id }) => id !== '')).toBe(true)
    expect(calls[1]?.wireId).toBe('x')
  })
}

/** What arrives when all goes well. */
export function answerCases(on: ModelFixture): void {
  test('streams text in pieces and reports usage and the end', async () => {
    on.peer.reply(on.stream({ text: ['Hel', 'lo 世界', ' 👋'] }))
    const answer = await ask(on.provider, on.request(say.system('Be kind.'), say.user('hi')))
    expect(answer.content).toEqual([{ type: 'text', text: 'Hello 世界 👋' }])
    expect(answer).toMatchObject({ finish: 'stop', hasText: true, truncated: false })
    expect(answer.usage).toMatchObject({
      inputTokens: 20,
      outputTokens: 7,
      cacheReadTokens: 4,
    })
  })

  test('tells reasoning from text and gives its state back to its own model only', async () => {
    on.peer.reply(
      on.stream({ reasoning: ['Hmm', ', yes.'], replay: 'opaque-state', text: ['Yes.'] }),
      on.stream({ text: ['Yes.'] }),
    )
    const { content, hasReasoning } = await ask(on.provider, on.request(say.user('really?')))
    expect(hasReasoning).toBe(true)
    expect(content.map(({ type }) => type)).toEqual(['reasoning', 'text'])
    expect(content[0]).toMatchObject({ text: 'Hmm, yes.' })
    const own = say.assistant('peer', on.subject.model, content)
    const foreign = say.assistant('other', on.subject.model, content)
    await ask(on.provider, on.request(say.user('a'), own, say.user('b')))
    await ask(on.provider, on.request(say.user('a'), foreign, say.user('b')))
    expect(on.peer.requests[1]?.text.includes('opaque-state')).toBe(on.subject.replays)
    expect(on.peer.requests[2]?.text).not.toMatch(/opaque-state|Hmm/)
  })

  test('marks an answer that the output limit cut', async () => {
    on.peer.reply(on.stream({ text: ['Once upon'], finish: 'max-tokens' }))
    const answer = await ask(on.provider, on.request(say.user('tell')))
    expect(answer).toMatchObject({ finish: 'max-tokens', truncated: true })
  })
}

const call = (id: string, city: string) => {
  return { id, name: 'weather', arguments: [JSON.stringify({ city })] }
}
