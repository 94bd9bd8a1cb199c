import { toolCallsOf } from '@cordage/core/message'
import { expect, test } from 'vitest'
import { ask, say } from './model-conversation.ts'
import type { ModelFixture } from './model-fixture.ts'
import { plainReply, startModelPeer, streamReply } from './model-peer.ts'
import { encodeAnswer, type WireAnswer, type WireApi } from './model-wire.ts'

/** Replies with `answer` after some of its JSON was replaced. */
function replyBent(on: ModelFixture, answer: WireAnswer, from: string | RegExp, to: string): void {
  const events = encodeAnswer(on.subject.api, answer)
  const bent = events.map((event) => event.replaceAll(from, to))
  expect(bent).not.toEqual(events)
  on.peer.reply(streamReply(bent))
}

const rome = '{"city":"Rome"}'
const calling = { calls: [{ id: 'call_a', name: 'weather', arguments: [rome] }] }

/** Calls whose members have another type than the protocol says. */
export function callShapeCases(on: ModelFixture): void {
  test.each(['7', '{}', 'null', '[]', 'true'])('gives a call with the id %s one', async (id) => {
    replyBent(on, calling, '"call_a"', id)
    const [call] = toolCallsOf(await ask(on.provider, on.request(say.user('weather?'))))
    expect(call).toMatchObject({ id: expect.stringMatching(/^call_.{20}/), arguments: rome })
  })

  test.each(['{}', '7', '[]', 'true'])('refuses a call with the name %s', async (name) => {
    replyBent(on, calling, '"weather"', name)
    expect(await on.failure()).toMatchObject({ code: 'MALFORMED_RESPONSE', retryable: false })
  })

  test.each([
    [rome, rome],
    ['[]', '[]'],
    ['[1]', '[1]'],
    ['null', ''],
  ])('reads the arguments %s as the text "%s"', async (given, text) => {
    replyBent(on, calling, JSON.stringify(rome), given)
    const calls = toolCallsOf(await ask(on.provider, on.request(say.user('weather?'))))
    expect(calls).toEqual([{ type: 'tool-call', id: 'call_a', name: 'weather', arguments: text }])
  })
}

/** Numbers of tokens that are none. */
export function usageShapeCases(on: ModelFixture): void {
  const odd = ['-7', '"7"', '7.5', '1e400', 'null', '{}']

  test.each(odd)('leaves the usage to an estimate where the output is %s', async (figure) => {
    replyBent(on, { text: ['Hi'] }, /"(output|completion)_tokens":\d+/g, `"$1_tokens":${figure}`)
    const answer = await ask(on.provider, on.request(say.user('hi')))
    expect(answer).toMatchObject({ finish: 'stop', usage: undefined })
  })

  test.each(odd)('leaves out what came from the cache where it is %s', async (figure) => {
    const cached = /"(cached_tokens|cache_read_input_tokens)":4/g
    replyBent(on, { text: ['Hi'] }, cached, `"$1":${figure}`)
    const { usage } = await ask(on.provider, on.request(say.user('hi')))
    expect(usage).toMatchObject({ outputTokens: 7 })
    expect(usage).not.toHaveProperty('cacheReadTokens')
  })
}

const shapes: Readonly<Record<WireApi, readonly string[]>> = {
  'openai-completions': [
    '{"choices":{}}',
    '{"choices":[null]}',
    '{"choices":[{"delta":5}]}',
    '{"choices":[{"delta":{"tool_calls":5}}]}',
    '{"choices":[{"delta":{"tool_calls":{}}}]}',
    '{"choices":[{"delta":{"tool_calls":[null]}}]}',
    '{"choices":[{"delta":{"tool_calls":[{"function":"f"}]}}]}',
    'null',
  ],
  'openai-responses': [
    '{"type":"response.output_item.added","output_index":0,"item":null}',
    '{"type":"response.output_item.done","output_index":0}',
    '{"type":"response.output_text.delta","delta":null}',
    '{"type":"response.output_text.delta","delta":{}}',
    '{"type":"response.completed","response":null}',
    'null',
  ],
  'anthropic-messages': [
    '{"type":"content_block_start","index":0,"content_block":null}',
    '{"type":"content_block_delta","index":0,"delta":null}',
    '{"type":"content_block_delta","index":0}',
    '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":5}}',
  ],
}

/** Events that are JSON and still make no sense. */
export function shapeCases(on: ModelFixture): void {
  test.each(shapes[on.subject.api])('refuses the event %s once and for all', async (json) => {
    const name = /"type":"([^"]+)"/.exec(json)?.[1]
    on.peer.reply(streamReply([`${name ? `event: ${name}\n` : ''}data: ${json}`]))
    expect(await on.failure()).toMatchObject({ code: 'MALFORMED_RESPONSE', retryable: false })
  })

  const words = /"(length|max_output_tokens|max_tokens)"/g
  const cut = { text: ['Hi'], finish: 'max-tokens' } as const

  test.each(['__proto__', 'constructor', 'toString'])('passes on the end %s', async (word) => {
    replyBent(on, cut, words, JSON.stringify(word))
    expect((await ask(on.provider, on.request(say.user('hi')))).finish).toBe(word)
  })

  test.each(['{}', '7', '["length"]'])('takes the end %s as none', async (word) => {
    replyBent(on, cut, words, word)
    const { finish } = await ask(on.provider, on.request(say.user('hi')))
    // Responses says apart from the reason that the answer is not whole.
    expect(finish).toBe(on.subject.api === 'openai-responses' ? 'incomplete' : undefined)
  })
}

/** A conversation goes to the address that a person chose, and to no other. */
export function redirectCases(on: ModelFixture): void {
  test.each([301, 302, 303, 307, 308])('follows no redirect with status %i', async (status) => {
    const other = await startModelPeer()
    try {
      on.peer.reply(plainReply(status, '', { location: `${other.url}/v1/secret-path` }))
      const failure = await on.failure()
      expect(failure).toMatchObject({ code: 'INVALID_REQUEST', retryable: false })
      expect(failure.message).toContain(`redirected to ${other.url})`)
      const list = on.provider.list(new AbortController().signal)
      await expect(list).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
      expect(other.requests).toEqual([])
    } finally {
      await other.close()
    }
  })

  test('says so of a redirect that names no address', async () => {
    on.peer.reply(plainReply(302, ''))
    expect((await on.failure()).message).toContain('(redirected')
  })
}
