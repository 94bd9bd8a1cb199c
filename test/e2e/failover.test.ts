import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { capableReply } from '../../packages/frontends/cli/test/capable-peer.ts'
import {
  plainReply,
  startModelPeer,
  streamReply,
  type ModelPeer,
} from '../../packages/kit/testkit/src/model-peer.ts'
import { encodeAnswer } from '../../packages/kit/testkit/src/model-wire.ts'
import { makePlace, type Place } from './fixture/place.ts'
import { sessionIds } from './fixture/read-log.ts'
import { runCli } from './fixture/warm-cli.ts'

const able = capableReply('anthropic-messages', 'small')
let broken: ModelPeer
let sound: ModelPeer
beforeAll(async () => {
  broken = await startModelPeer()
  broken.reply(plainReply(503, { error: { type: 'overloaded' } }))
  sound = await startModelPeer()
  sound.reply(able)
})
afterAll(() => Promise.all([broken.close(), sound.close()]))

/** Two routes by different protocols; the one that is meant is broken. */
async function layer(place: Place, breaker: string): Promise<string> {
  const file = join(place.base, 'routes.yml')
  const text = `
- id: model-openai
  merge:
    providers:
      first:
        displayName: First
        api: openai-completions
        baseURL: ${broken.url}/v1
        models: [{ id: large, price: { input: 1, output: 1 } }]
- id: model-anthropic
  merge:
    providers:
      second:
        displayName: Second
        baseURL: ${sound.url}
        models: [{ id: small, price: { input: 2, output: 2 } }]
- { id: policy-retry, merge: { maxRetries: 3, initialDelayMs: 1, maxDelayMs: 1 } }
- id: policy-failover
  disabled: false
  merge: { roles: { main: [first/large, second/small] } }
- { id: policy-breaker, disabled: ${breaker}, merge: { maxFailures: 2 } }
`
  await writeFile(file, text)
  return file
}

const bodies = (peer: ModelPeer) =>
  peer.requests.map(({ body }) => (body as { model: string }).model)

describe('a chain of models', () => {
  it('is shown with places, prices and what each role would use', async () => {
    await using place = await makePlace('empty')
    const title = join(place.base, 'title.yml')
    const chains = 'title: [nowhere/x, second/other], summary: [anthropic/claude-haiku-5]'
    await writeFile(title, `- { id: policy-failover, merge: { roles: { ${chains} } } }\n`)
    const patch = ['--patch', await layer(place, 'false')]
    const list = async (...args: string[]) => {
      const { stdout, stderr } = await runCli(place, [...patch, ...args])
      expect(stderr).toBe('')
      return stdout.split('\n').map((line) => line.trim().split(/ {2,}/))
    }
    const alone = await list('models', 'list')
    expect(alone).toContainEqual([
      'first/large',
      'First',
      '128k',
      '$1 in, $1 out',
      'main 1',
      'ready, the default',
    ])
    const both = await list('--patch', title, 'models', 'list')
    expect(both).toContainEqual([
      'nowhere/x',
      'nobody',
      'price unknown',
      'title 1',
      'no such provider',
    ])
    expect(both).toContainEqual([
      'second/other',
      'Second',
      '128k',
      'price unknown',
      'title 2',
      'ready',
    ])
    expect(both.find(([name]) => name === 'anthropic/claude-haiku-5')?.slice(3)).toEqual([
      'price unknown',
      'summary 1',
      'needs ANTHROPIC_API_KEY',
    ])
  })

  it('does a task by the next one, says so, and charges each for its own', async () => {
    await using place = await makePlace()
    const patch = ['--patch', await layer(place, 'true')]
    broken.requests.length = 0
    sound.reset()
    const call = { id: 'c1', name: 'list', arguments: ['{"path":"."}'] }
    sound.reply(streamReply(encodeAnswer('anthropic-messages', { calls: [call] })), able)
    const { code, stdout, stderr } = await runCli(place, [...patch, 'run', 'say it'])
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'ready\n' })
    expect(stderr).toContain('first/large')
    expect(stderr.match(/again in/g)).toHaveLength(3)
    expect(stderr).toContain('going on with second/small')
    expect([bodies(broken), bodies(sound)]).toEqual([
      ['large', 'large', 'large', 'large'],
      ['small', 'small'],
    ])
    const usage = await runCli(place, ['sessions', 'usage', '--output', 'json'])
    expect(usage.stdout).toMatch(/first\/large/)
    expect(usage.stdout).toMatch(/second\/small/)

    const [id = ''] = sessionIds(place.home)
    const replayed = await runCli(place, [...patch, 'replay', id])
    expect(replayed.code, replayed.stdout + replayed.stderr).toBe(0)

    // Who comes back wants the model that was chosen, not the one that stood in.
    broken.requests.length = 0
    const again = await runCli(place, [...patch, 'resume', id, 'again'])
    expect(again.code, again.stderr).toBe(0)
    expect(bodies(broken)).toHaveLength(4)
  })

  it('spends no more on a route than its breaker allows', async () => {
    await using place = await makePlace()
    const patch = ['--patch', await layer(place, 'false')]
    broken.requests.length = 0
    const { code, stdout, stderr } = await runCli(place, [...patch, 'run', 'say it'])
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'ready\n' })
    expect(stderr).toContain('ROUTE_OPEN')
    expect(bodies(broken)).toEqual(['large', 'large'])
  })
})
