import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  plainReply,
  startModelPeer,
  streamReply,
  type ModelPeer,
  type PeerReply,
} from '../../packages/kit/testkit/src/model-peer.ts'
import { encodeAnswer } from '../../packages/kit/testkit/src/model-wire.ts'
import { makePlace, type Place } from './fixture/place.ts'
import { sessionIds } from './fixture/read-log.ts'
import { runCli } from './fixture/warm-cli.ts'

const parts = [
  'overall_goal',
  'key_knowledge',
  'file_system_state',
  'recent_actions',
  'current_plan',
]
const snapshot = `<state_snapshot>${parts.map((part) => `<${part}>was summed up</${part}>`).join('')}</state_snapshot>`
const LONG = `The port is 48213. ${'What was found there takes some room to say. '.repeat(250)}`

const say = (text: string) => streamReply(encodeAnswer('openai-completions', { text: [text] }))
const isSummary = (body: unknown) =>
  JSON.stringify((body as { messages: unknown[] }).messages.at(-1)).includes('current_plan')

let peer: ModelPeer
beforeAll(async () => (peer = await startModelPeer()))
afterAll(() => peer.close())

/** A layer with one local model that declares `fields`. */
async function modelLayer(place: Place, fields: string): Promise<string> {
  const file = join(place.base, 'model.yml')
  const route = `displayName: Local, api: openai-completions, baseURL: ${peer.url}/v1`
  await writeFile(
    file,
    `- id: model-openai\n  merge: { providers: { local: { ${route}, models: [{ id: small, ${fields} }] } } }\n`,
  )
  return file
}

/** A window of 14,000 tokens: a few long answers fill it. */
async function layer(place: Place): Promise<string[]> {
  const file = join(place.base, 'small.yml')
  const model =
    '{ id: small, contextWindow: 14000, maxTokens: 1000, price: { input: 1, output: 1 } }'
  await writeFile(
    file,
    `- id: model-openai
  merge:
    providers:
      local: { displayName: Local, api: openai-completions, baseURL: ${peer.url}/v1, models: [${model}] }
`,
  )
  return ['--patch', file, '--model', 'local/small']
}

describe('a window that is too small', () => {
  it('stops the start where answers may take all of it, and is told where the headroom shrinks', async () => {
    await using place = await makePlace('empty')
    const check = async (fields: string) => {
      const patch = await modelLayer(place, fields)
      return runCli(place, ['--patch', patch, 'config', 'check'])
    }
    const none = await check('contextWindow: 8000, maxTokens: 8000')
    expect(none.code).toBe(78)
    expect(none.stdout + none.stderr).toMatch(
      /"model-openai".*answers of small may take 8000 tokens.*window of 8000.*CONFIG_INVALID/,
    )
    const small = await check('contextWindow: 14000, maxTokens: 1000')
    expect(small.code, small.stderr).toBe(0)
    expect(small.stdout).toContain('2048 for local/small (window 14000, answers 1000)')
  })
})

describe('a conversation that outgrows its window', () => {
  it('goes on with a summary, by itself, by hand and where the server finds it too large', async () => {
    await using place = await makePlace('empty')
    const patch = await layer(place)
    const answer: PeerReply = (response, request) =>
      say(isSummary(request.body) ? snapshot : LONG)(response, request)
    const recall = streamReply(
      encodeAnswer('openai-completions', {
        calls: [{ id: 'r1', name: 'retrieve_memory', arguments: ['{"snapshot_id":"e1"}'] }],
      }),
    )
    peer.reply(answer)
    const ask = async (kind: 'run' | 'continue', text: string) => {
      const ended = await runCli(place, [...patch, kind, text])
      expect(ended.code, ended.stderr).toBe(0)
      return JSON.stringify(peer.requests.at(-1)?.body)
    }
    const first = 'Mend the parser of TICKET-42. Never touch src/lexer.ts.'
    const bodies = [await ask('run', first)]
    while (bodies.length < 6) bodies.push(await ask('continue', `more of it, ${bodies.length}`))
    const compacted = bodies.filter((body) => body.includes('was summed up'))
    expect(compacted.length).toBeGreaterThan(0)
    for (const body of compacted) expect(body).toContain('constraint: Never touch src/lexer.ts.')
    expect(bodies.at(-1)).toContain('more of it, 5')

    const [id = ''] = sessionIds(place.home)
    const compact = await runCli(place, [...patch.slice(0, 2), 'sessions', 'compact', id])
    expect(compact.stdout, compact.stderr).toMatch(/now a summary \(episode \w+\)/)
    expect(await ask('continue', 'after it')).toContain('goal: Mend the parser')

    peer.reset()
    const tooLarge = plainReply(400, {
      error: { message: 'maximum context length', code: 'context_length_exceeded' },
    })
    peer.reply(tooLarge, answer)
    expect(await ask('continue', 'and once more')).toContain('and once more')

    peer.reset()
    peer.reply(recall, answer)
    const recalled = await ask('continue', 'Which port was it?')
    expect(recalled.includes('[1] assistant: The port is 48213.')).toBe(true)

    const usage = await runCli(place, ['sessions', 'usage', id, '--by', 'purpose'])
    expect(usage.stdout).toContain('summary')
    const replayed = await runCli(place, [...patch.slice(0, 2), 'replay', id])
    expect(replayed.code, replayed.stdout + replayed.stderr).toBe(0)
  })
})
