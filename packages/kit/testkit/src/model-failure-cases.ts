import { expect, test } from 'vitest'
import { ask, say } from './model-conversation.ts'
import type { ModelFixture } from './model-fixture.ts'
import { plainReply, startModelPeer } from './model-peer.ts'
import { refusals } from './model-refusals.ts'
import { retryWishes, statuses } from './model-statuses.ts'
import { startUntrustedPeer } from './model-tls.ts'

/** Servers that are not there, or are not what they should be. */
export function absenceCases(on: ModelFixture): void {
  const reach = async (url: string, retryable = true) => {
    const lonely = on.subject.provider(url)
    const asked = ask(lonely, on.request(say.user('hi')))
    const error: unknown = await asked.catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'TRANSPORT', retryable })
    return (error as Error).message
  }

  test('fails with TRANSPORT and the address where nobody listens', async () => {
    const closed = await startModelPeer()
    await closed.close()
    expect(await reach(closed.url)).toMatch(/ECONNREFUSED.*127\.0\.0\.1/)
  })

  test('fails with TRANSPORT and the name that nobody has', async () => {
    // No name is that long, so that nobody is asked for it.
    const name = `${'x'.repeat(64)}.example`
    expect(await reach(`http://${name}`)).toMatch(`(ENOTFOUND, http://${name}`)
  })

  test('fails with TRANSPORT and the way to trust a certificate that nobody signed', async () => {
    const untrusted = await startUntrustedPeer()
    const told = await reach(untrusted.url, false)
    await untrusted.close()
    expect(told).toContain('DEPTH_ZERO_SELF_SIGNED_CERT')
    expect(told).toContain('NODE_EXTRA_CA_CERTS')
  })

  test('fails with TRANSPORT where one side speaks TLS and the other does not', async () => {
    const untrusted = await startUntrustedPeer()
    await reach(untrusted.url.replace('https', 'http'))
    await untrusted.close()
    expect(await reach(on.peer.url.replace('http', 'https'))).toContain('ERR_SSL')
  })

  test('fails with TRANSPORT where a proxy asks for a credential', async () => {
    on.peer.reply(plainReply(407, 'SECRET-IN-BODY', { 'proxy-authenticate': 'Basic' }))
    const told = await reach(on.peer.url, false)
    expect(told).toMatch(/HTTP 407: a proxy wants a credential.*HTTPS_PROXY/)
    expect(told).not.toContain('SECRET-IN-BODY')
  })
}

/** Refusals, by status and by what the body says. */
export function statusCases(on: ModelFixture): void {
  test.each(statuses)('names status $status $code, whenever to try again', async (row) => {
    const { status, code } = row
    for (const { headers, waitMs } of retryWishes) {
      on.peer.reset()
      on.peer.reply(plainReply(status, { error: { message: 'x' } }, headers))
      const { details, ...failure } = await on.failure()
      expect(failure).toMatchObject({ code })
      expect(details['status']).toBe(status)
      expect(details['retryAfterMs']).toBe(waitMs)
    }
  })

  test.each(refusals)('names status $status with "$says" $code', async ({ status, says, code }) => {
    on.peer.reply(plainReply(status, { error: { type: 'some_error', message: says } }))
    expect(await on.failure()).toMatchObject({ code })
  })
}
