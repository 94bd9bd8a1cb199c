import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startModelPeer, type ModelPeer } from '../../packages/kit/testkit/src/model-peer.ts'
import { makePlace } from './fixture/place.ts'
import { runCli } from './fixture/warm-cli.ts'

let peer: ModelPeer
beforeAll(async () => void (peer = await startModelPeer()))
beforeEach(() => peer.reset())
afterAll(() => peer.close())

const env = () => ({
  DEEPSEEK_BASE_URL: `${peer.url}/v1`,
  OPENAI_BASE_URL: `${peer.url}/v1`,
  ANTHROPIC_BASE_URL: peer.url,
})

async function ask(model: string, effort: string) {
  await using place = await makePlace('empty')
  const args = ['--model', model, '--effort', effort, '--max-steps', '1', 'Say hello']
  const { code, stderr } = await runCli(place, args, { env: env() })
  return { code, stderr, body: peer.requests[0]?.body }
}

describe('--effort', () => {
  it.each([
    [
      'deepseek/deepseek-v4-flash',
      'max',
      { reasoning_effort: 'max', thinking: { type: 'enabled' } },
    ],
    ['deepseek/deepseek-v4-pro', 'off', { thinking: { type: 'disabled' } }],
    ['openai/gpt-5.5', 'minimal', { reasoning_effort: 'minimal' }],
    ['openai/gpt-5.5-mini', 'high', { reasoning_effort: 'high' }],
    ['anthropic/claude-sonnet-5', 'low', { output_config: { effort: 'low' } }],
    ['anthropic/claude-opus-5', 'max', { output_config: { effort: 'max' } }],
  ])('of %s reaches the server as %s', async (model, effort, wire) => {
    const { body, stderr } = await ask(model, effort)
    expect(body, stderr).toMatchObject(wire)
  })

  it('that a model does not have is refused with those that it has', async () => {
    const { code, stderr, body } = await ask('deepseek/deepseek-v4-flash', 'medium')
    expect(body).toBeUndefined()
    expect(stderr).toContain('it takes off, low, high, max')
    expect(code).toBe(78)
  })
})
