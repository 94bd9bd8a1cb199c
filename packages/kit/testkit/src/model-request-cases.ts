import { expect, test } from 'vitest'
import { ask, makeRequest, say } from './model-conversation.ts'
import type { ModelFixture } from './model-fixture.ts'
import { plainReply } from './model-peer.ts'

/** What a server receives. */
export function requestCases(on: ModelFixture): void {
  test('makes the same body for the same request', async () => {
    const asked = on.request(say.system('Be kind.'), say.user('hi'))
    const [one, two] = [await on.provider.body(asked), await on.provider.body(asked)]
    expect(JSON.stringify(one)).toBe(JSON.stringify(two))
    on.peer.reply(on.stream({ text: ['Hi'] }))
    await ask(on.provider, asked)
    expect(on.peer.requests[0]?.text).toBe(JSON.stringify(one))
  })

  test('passes an unknown model id through with declared defaults', async () => {
    expect(on.provider.info('acme/new:7b')).toMatchObject({
      contextWindow: 128_000,
      maxTokens: 8_192,
      declared: false,
    })
    on.peer.reply(on.stream({ text: ['Hi'] }))
    await ask(on.provider, makeRequest('peer', 'acme/new:7b', [say.user('hi')]))
    expect(on.peer.requests[0]?.body).toMatchObject({ model: 'acme/new:7b' })
  })

  test('sends images where a model reads them and says so where it does not', async () => {
    const blob = { hash: 'h', bytes: 3, mediaType: 'image/png' }
    const picture = say.user('what is it?', { type: 'image', blob })
    on.peer.reply(on.stream({ text: ['A cat'] }))
    await ask(on.provider, on.request(picture))
    await ask(on.provider, makeRequest('peer', 'text-only', [picture]))
    expect(on.peer.requests[0]?.text).toContain('AQID')
    expect(on.peer.requests[1]?.text).not.toContain('AQID')
    expect(on.peer.requests[1]?.text).toContain('image not shown')
  })

  test('sends an effort as declared and refuses one that is not', async () => {
    const asked = (effort: string) =>
      makeRequest('peer', on.subject.model, [say.user('hi')], {
        params: { effort, maxTokens: 4_096 },
      })
    const [high, off] = [
      await on.provider.body(asked('high')),
      await on.provider.body(asked('off')),
    ]
    expect(JSON.stringify(high)).not.toBe(JSON.stringify(off))
    const refused = async () => on.provider.body(asked('extreme'))
    await expect(refused()).rejects.toMatchObject({ code: 'UNSUPPORTED_REASONING_EFFORT' })
  })

  test('lists the models of the server', async () => {
    const data = [
      { id: 'a', type: 'model' },
      { id: 'b', type: 'model' },
    ]
    on.peer.reply(plainReply(200, { object: 'list', data, has_more: false }))
    const { signal } = new AbortController()
    expect(await on.provider.list(signal)).toEqual(['a', 'b'])
    on.peer.reset()
    on.peer.reply(plainReply(401, { error: { message: 'SECRET-IN-BODY' } }))
    await expect(on.provider.list(signal)).rejects.toMatchObject({ code: 'AUTH' })
  })
}

/** Configuration comes from arguments alone. */
export function environmentCases(on: ModelFixture): void {
  test('sends the same whatever variables its SDK would read', async () => {
    const seen = async () => {
      const other = on.subject.provider(on.peer.url)
      await ask(other, on.request(say.user('hi')))
      const { method, path, headers, text } = on.peer.requests.at(-1) ?? {}
      return { method, path, headers, text }
    }
    on.peer.reply(on.stream({ text: ['Hi'] }))
    const before = await seen()
    const saved = on.subject.environment.map(
      (variable) => [variable, process.env[variable]] as const,
    )
    try {
      for (const variable of on.subject.environment) {
        process.env[variable] = /HEADERS/.test(variable)
          ? 'x-leak: leaked\nauthorization: leaked\nx-api-key: leaked'
          : `leaked-${variable.toLowerCase()}`
      }
      expect(await seen()).toEqual(before)
    } finally {
      for (const [variable, value] of saved) {
        if (value === undefined) delete process.env[variable]
        else process.env[variable] = value
      }
    }
    expect(JSON.stringify(before.headers)).toContain('secret-key-of-test')
  })
}
