import type { HarnessError } from '@cordage/core/error'
import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { ask, say } from './model-conversation.ts'
import type { ModelFixture } from './model-fixture.ts'
import { frame, framesOf } from './model-frames.ts'
import { plainReply, type PeerReply, rawReply, streamReply } from './model-peer.ts'
import type { WireApi } from './model-wire.ts'

const key = 'secret-key-of-test'
/** What else may not be told of a body. */
const word = 'secret_word_of_body'
const secrets = new RegExp(`${key}|${word}|${key.replaceAll('-', '_')}`, 'i')

const all = `${key} ${word}`
const error = { message: all, type: word, code: key.replaceAll('-', '_'), param: all, [word]: all }

const echoes: readonly (readonly [string, (api: WireApi) => PeerReply])[] = [
  ...[400, 401, 403, 404, 429, 500].map((status) => {
    return [`an error object with status ${status}`, () => plainReply(status, { error })] as const
  }),
  ['a text with status 400', () => plainReply(400, all)],
  ['a web page with status 200', () => plainReply(200, `<html>${all}</html>`)],
  ['an error object with status 200', () => plainReply(200, { error })],
  ['an error inside the stream', () => streamReply([frame({ ...error, error, type: 'error' })])],
  ['a text as an error inside the stream', () => streamReply([`event: error\ndata: ${all}`])],
  ['an event that is not JSON', () => streamReply([`data: {${all}}`])],
  [
    'an event of another shape',
    () => streamReply([frame({ choices: all, type: word }), 'data: 7']),
  ],
  ['a line that is no event', () => rawReply([`${all}\n\n`])],
  [
    'headers of a refusal',
    () => plainReply(429, '', { 'retry-after': all, 'x-request-id': key, 'content-type': all }),
  ],
  ['the host of a redirect', () => plainReply(307, '', { location: `https://${key}.example/` })],
  ['the path of a redirect', () => plainReply(307, '', { location: `https://a.example/${key}` })],
  ['the user of a redirect', () => plainReply(307, '', { location: `https://${key}@a.example/` })],
  [
    'the name of a call that is an object',
    (api) => {
      const { begin, openCall } = framesOf(api)
      return streamReply([...begin, ...openCall({ place: 0, id: key, name: { [word]: key } })])
    },
  ],
]

/** Whatever a server sends back, no error tells it: neither a key nor a word of a body. */
export function secretCases(on: ModelFixture): void {
  test.each(echoes)('tells nothing of the key that comes back in %s', async (_, reply) => {
    on.peer.reply(reply(on.subject.api))
    const asked = ask(on.provider, on.request(say.user('hi')))
    const failure = await asked.then(
      (answer) => ({ finish: answer.finish }),
      (thrown: HarnessError) => thrown,
    )
    expect(failure).not.toMatchObject({ finish: 'stop' })
    expect(inspect(failure, { depth: 8, showHidden: true })).not.toMatch(secrets)
  })
}
