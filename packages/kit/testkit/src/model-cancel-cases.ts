import { expect, test } from 'vitest'
import { ask, say } from './model-conversation.ts'
import type { ModelFixture } from './model-fixture.ts'
import { streamReply } from './model-peer.ts'
import { encodeBeginning } from './model-wire.ts'

/** A request that nobody waits for leaves no connection behind. */
export function cancelCases(on: ModelFixture): void {
  test('closes the connection when it is cancelled inside the answer', async () => {
    const events = encodeBeginning(on.subject.api, 'Hello')
    on.peer.reply(streamReply(events, { after: 'hang' }))
    const controller = new AbortController()
    const asked = on.request(say.user('hi'))
    const reason = new Error('stop it')
    const body = await on.provider.body(asked)
    const reading = (async () => {
      for await (const event of on.provider.stream(asked, body, { signal: controller.signal })) {
        if (event.type === 'text') controller.abort(reason)
      }
    })()
    await expect(reading).rejects.toBe(reason)
    await on.peer.requests[0]?.closed
  })

  test('closes the connection when it is cancelled before the answer', async () => {
    const controller = new AbortController()
    const reason = new Error('stop it')
    on.peer.reply(() => controller.abort(reason))
    const asked = ask(on.provider, on.request(say.user('hi')), controller.signal)
    await expect(asked).rejects.toBe(reason)
    await on.peer.requests[0]?.closed
  })

  test('closes the connection when the reader leaves', async () => {
    const events = encodeBeginning(on.subject.api, 'Hello')
    on.peer.reply(streamReply(events, { after: 'hang' }))
    const asked = on.request(say.user('hi'))
    const { signal } = new AbortController()
    for await (const event of on.provider.stream(asked, await on.provider.body(asked), {
      signal,
    })) {
      if (event.type === 'text') break
    }
    await on.peer.requests[0]?.closed
  })
}
