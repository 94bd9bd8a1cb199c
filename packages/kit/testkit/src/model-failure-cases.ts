import { expect, test } from 'vitest'
import { ask, say } from './model-conversation.ts'
import type { ModelFixture } from './model-fixture.ts'
import { plainReply, startModelPeer, streamReply } from './model-peer.ts'
import { encodeAnswer, encodeBeginning, encodeError } from './model-wire.ts'

/** Answers that stop or make no sense. */
export function brokenStreamCases(on: ModelFixture): void {
  test('reports no finish for a stream that just ends', async () => {
    const events = encodeBeginning(on.subject.api, 'Hello')
    on.peer.reply(streamReply(events))
    expect((await ask(on.provider, on.request(say.user('hi')))).finish).toBeUndefined()
  })

  test('fails with STREAM_CLOSED when the connection breaks inside the answer', async () => {
    const events = encodeBeginning(on.subject.api, 'Hello')
    on.peer.reply(streamReply(events, { after: 'destroy' }))
    expect(await on.failure()).toMatchObject({ code: 'STREAM_CLOSED', retryable: true })
  })

  test('fails with TRANSPORT and the address where nobody listens', async () => {
    const closed = await startModelPeer()
    await closed.close()
    const lonely = on.subject.provider(closed.url)
    const error: unknown = await ask(lonely, on.request(say.user('hi'))).catch((e: unknown) => e)
    expect(error).toMatchObject({ code: 'TRANSPORT', retryable: true })
    expect((error as Error).message).toMatch(/ECONNREFUSED.*127\.0\.0\.1/)
  })

  test('sees an error object inside a stream', async () => {
    const events = encodeBeginning(on.subject.api, 'Hel')
    on.peer.reply(
      streamReply([...events, ...encodeError(on.subject.api, 'overloaded_error', 'busy')]),
    )
    expect(await on.failure()).toMatchObject({ code: 'SERVER', retryable: true })
  })

  test('sees an error object in a plain answer with status 200', async () => {
    on.peer.reply(plainReply(200, { error: { type: 'rate_limit_exceeded', message: 'slow' } }))
    expect(await on.failure()).toMatchObject({ code: 'RATE_LIMIT', retryable: true })
  })

  test('refuses a web page with status 200', async () => {
    on.peer.reply(plainReply(200, '<html><h1>Sign in to the Wi-Fi</h1></html>'))
    expect(await on.failure()).toMatchObject({ code: 'MALFORMED_RESPONSE' })
  })

  test('refuses an event that is not JSON', async () => {
    const [first = '', ...rest] = encodeAnswer(on.subject.api, { text: ['Hi'] })
    on.peer.reply(streamReply([first.replace(/data: .*/, 'data: {"a": <b>}'), ...rest]))
    expect(await on.failure()).toMatchObject({ code: 'MALFORMED_RESPONSE' })
  })
}

/** Refusals, by status and kind. */
export function statusCases(on: ModelFixture): void {
  test.each([
    [400, 'INVALID_REQUEST', 'bad'],
    [401, 'AUTH', 'bad key'],
    [402, 'QUOTA', 'pay'],
    [403, 'AUTH', 'no'],
    [404, 'UNKNOWN_MODEL', 'The model gpt-9 does not exist'],
    [404, 'INVALID_REQUEST', 'no route'],
    [408, 'TIMEOUT', 'late'],
    [413, 'CONTEXT_WINDOW_EXCEEDED', 'large'],
    [400, 'CONTEXT_WINDOW_EXCEEDED', 'the maximum context length is 4096 tokens'],
    [400, 'CONTENT_FILTERED', 'content_filter'],
    [429, 'RATE_LIMIT', 'slow down'],
    [429, 'QUOTA', 'insufficient_quota'],
    [500, 'SERVER', 'oops'],
    [503, 'SERVER', 'oops'],
    [529, 'SERVER', 'overloaded'],
  ])('names status %i %s for "%s" without a word of the body', async (status, code, text) => {
    const error = { type: 'some_error', message: `${text} SECRET-IN-BODY` }
    on.peer.reply(plainReply(status, { error }, { 'retry-after': '7' }))
    const thrown = await on.failure()
    expect(thrown.code).toBe(code)
    expect(thrown.details).toMatchObject({ status, retryAfterMs: 7_000 })
    const told = `${thrown.message} ${JSON.stringify(thrown.details)} ${String(thrown.cause)}`
    expect(told).not.toMatch(/SECRET-IN-BODY|secret-key-of-test/)
  })
}
