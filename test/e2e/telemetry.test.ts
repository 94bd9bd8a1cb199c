import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import {
  plainReply,
  startModelPeer,
  streamReply,
  type PeerReply,
} from '../../packages/kit/testkit/src/model-peer.ts'
import { encodeAnswer, type WireAnswer } from '../../packages/kit/testkit/src/model-wire.ts'
import { startReceiver } from '../fixture/otlp-receiver.ts'
import { runCli } from './fixture/cli.ts'
import { makePlace } from './fixture/place.ts'

const recorder = join(import.meta.dirname, 'fixture/record-modules.mjs')
const ours = /policy-telemetry|policies\/telemetry|@opentelemetry/

it('sends a run of the command line to a receiver where its row is switched on, and is not loaded else', async () => {
  await using place = await makePlace()
  await using receiver = await startReceiver()
  const peer = await startModelPeer()
  const answer = (said: WireAnswer): PeerReply =>
    streamReply(encodeAnswer('openai-completions', said))
  const conversation = (): void => {
    peer.reset()
    peer.reply(
      plainReply(503, { error: { message: 'later' } }),
      answer({ calls: [{ id: 'call_1', name: 'list', arguments: ['{"path":"."}'] }] }),
      answer({ text: ['它好了'] }),
    )
  }
  const route = `
- id: model-openai
  merge:
    providers:
      local:
        displayName: Local
        api: openai-completions
        baseURL: ${peer.url}/v1
        models: [{ id: small }]
- { id: policy-retry, merge: { initialDelayMs: 1, maxDelayMs: 1 } }
`
  const layer = async (name: string, text: string): Promise<string> => {
    const file = join(place.base, name)
    await writeFile(file, text)
    return file
  }
  const run = async (text: string) => {
    conversation()
    const record = join(place.base, 'modules')
    const patch = ['--patch', await layer('patch.yml', route + text)]
    const env = {
      NODE_OPTIONS: `--import ${recorder}`,
      MODULES_RECORD: record,
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTLP_HEADERS: 'authorization=Bearer%20a-secret-of-mine',
    }
    const args = [...patch, 'run', '--model', 'local/small', 'sag ein Geheimnis']
    const { code, stdout, stderr } = await runCli(place, args, { env })
    expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: '它好了\n' })
    return (await readFile(record, 'utf8')).split('\n').filter((url) => ours.test(url))
  }

  expect(await run('')).toEqual([])
  expect(receiver.requests).toEqual([])

  const on = '- { id: policy-telemetry, disabled: false, merge: { headersEnv: OTLP_HEADERS } }'
  expect(await run(on)).not.toEqual([])
  await peer.close()
  const names = receiver.spans.map(({ name }) => name)
  expect(names.toSorted()).toEqual([
    'chat small',
    'chat small',
    'chat small',
    'execute_tool list',
    'invoke_agent standard',
    'step',
    'step',
  ])
  const { hostname, port } = new URL(peer.url)
  const failed = receiver.spans.find(({ attributes }) => attributes['error.type'] !== undefined)
  expect(failed?.attributes).toMatchObject({
    'gen_ai.provider.name': 'local',
    'gen_ai.request.model': 'small',
    'server.address': hostname,
    'server.port': Number(port),
    'error.type': 'SERVER',
  })
  expect([...receiver.metrics.keys()].toSorted()).toEqual([
    'cordage.step.duration',
    'cordage.tool.duration',
    'cordage.turn.duration',
    'gen_ai.client.operation.duration',
    'gen_ai.client.token.usage',
  ])
  const sent = receiver.requests.map(({ body }) => body.toString('utf8')).join()
  for (const word of ['Geheimnis', '它好了', 'a-secret-of-mine', place.base]) {
    expect(sent).not.toContain(word)
  }
  expect(receiver.requests[0]?.headers.authorization).toBe('Bearer a-secret-of-mine')

  const usage = await runCli(place, ['sessions', 'usage', '--by', 'purpose'])
  // Both runs: a first attempt that failed, another that asked for a call, and one that answered.
  expect(usage.stdout).toMatch(/^step +4 +2 /m)
  expect(usage.stdout).toMatch(/^retry +2 +0 /m)
  expect(usage.stdout).toMatch(/no price: what they cost is not in it/)
})
