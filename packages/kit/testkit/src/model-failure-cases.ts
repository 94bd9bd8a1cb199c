import { expect, test } from 'vitest'
import { ask, say } from './model-conversation.ts'
import type { ModelFixture } from './model-fixture.ts'
import { plainReply, startModelPeer } from './model-peer.ts'

/** Servers that are not there. */
export function absenceCases(on: ModelFixture): void {
  test('fails with TRANSPORT and the address where nobody listens', async () => {
    const closed = await startModelPeer()
    await closed.close()
    const lonely = on.subject.provider(closed.url)
    const error: unknown = await ask(lonely, on.request(say.user('hi'))).catch((e: unknown) => e)
    expect(error).toMatchObject({ code: 'TRANSPORT', retryable: true })
    expect((error as Error).message).toMatch(/ECONNREFUSED.*127\.0\.0\.1/)
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
