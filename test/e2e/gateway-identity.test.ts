import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startModelPeer, streamReply } from '../../packages/kit/testkit/src/model-peer.ts'
import { encodeAnswer } from '../../packages/kit/testkit/src/model-wire.ts'
import { runCli } from './fixture/cli.ts'
import { makePlace } from './fixture/place.ts'
import { sessionIds } from './fixture/read-log.ts'

const HEADERS = [
  'accept',
  'accept-encoding',
  'accept-language',
  'authorization',
  'connection',
  'content-length',
  'content-type',
  'host',
  'sec-fetch-mode',
  'user-agent',
]

it('is told nothing of who or where this is over Responses either', async () => {
  await using place = await makePlace('empty')
  const peer = await startModelPeer()
  peer.reply(streamReply(encodeAnswer('openai-responses', { text: ['ready'] })))
  // The vendor's own address, as a layer moves it: what the variable names speaks otherwise.
  const layer = join(place.base, 'vendor.yml')
  const at = JSON.stringify(`${peer.url}/v1`)
  await writeFile(
    layer,
    `- { id: model-openai, merge: { providers: { openai: { baseURL: ${at} } } } }`,
  )
  const marks = { USER: 'zaphod-user', LOGNAME: 'zaphod-login', HOSTNAME: 'heart-of-gold' }
  const env = { ...marks, MARK: randomUUID(), OPENAI_API_KEY: 'sk-of-nobody-1234567890' }
  for (const task of [
    ['run', 'Say ready'],
    ['continue', 'Again'],
  ]) {
    const [command = '', ...words] = task
    const args = [command, '--patch', layer, '--model', 'openai/gpt-5.5', ...words]
    const { code, stderr } = await runCli(place, args, { env })
    expect(code, stderr).toBe(0)
  }
  await peer.close()
  expect(peer.requests.map(({ path }) => path)).toEqual(['/v1/responses', '/v1/responses'])
  const words = [
    ...sessionIds(place.home),
    ...Object.values(marks),
    env.MARK,
    hostname(),
    place.home,
  ]
  for (const { headers, body, text } of peer.requests) {
    expect(words.filter((word) => text.includes(word))).toEqual([])
    expect(headers['user-agent']).toBe('cordage')
    expect(Object.keys(headers).filter((name) => !HEADERS.includes(name))).toEqual([])
    const identifying = ['user', 'metadata', 'safety_identifier', 'prompt_cache_key']
    expect(Object.keys(body as object).filter((name) => identifying.includes(name))).toEqual([])
  }
})
