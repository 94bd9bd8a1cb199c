import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LLMock } from '@copilotkit/aimock'
import { assistantMessage, toolResult } from '@cordage/core/session'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jsonLines } from './fixture/cli.ts'
import { makePlace, type Place } from './fixture/place.ts'
import { readLog, sessionIds } from './fixture/read-log.ts'
import { runCli } from './fixture/warm-cli.ts'

const mock = new LLMock({ host: '127.0.0.1', port: 0 })
const answer = '修好了: the discount is divided by 100 now, and all tests pass.'

/** What is asked for when so many tool results are there. */
const asked: Record<number, { name: string; arguments: Record<string, unknown> }[]> = {
  0: [
    { name: 'list', arguments: { path: '.' } },
    { name: 'read', arguments: { file_path: 'test/cart.test.js' } },
  ],
  2: [{ name: 'bash', arguments: { command: 'node --test' } }],
  3: [{ name: 'read', arguments: { file_path: 'src/cart.js' } }],
  4: [
    {
      name: 'edit',
      arguments: {
        file_path: 'src/cart.js',
        old_string: 'sum * discount / 10',
        new_string: 'sum * discount / 100',
      },
    },
  ],
  5: [{ name: 'bash', arguments: { command: 'node --test' } }],
}

beforeAll(async () => {
  for (const [results, calls] of Object.entries(asked)) {
    const toolCalls = calls.map((call) => ({ ...call, arguments: JSON.stringify(call.arguments) }))
    mock.on(
      { predicate: ({ messages }) => countResults(messages) === Number(results) },
      { content: `Step after ${results} results.`, toolCalls },
    )
  }
  mock.on({ predicate: ({ messages }) => countResults(messages) === 6 }, { content: answer })
  await mock.start()
})
afterAll(() => mock.stop())

function countResults(messages: readonly { role: string }[]): number {
  return messages.filter(({ role }) => role === 'tool').length
}

const protocols = [
  {
    name: 'Chat Completions',
    path: '/v1/chat/completions',
    model: 'deepseek/deepseek-v4-flash',
    // A base URL alone counts as a credential.
    env: () => ({ DEEPSEEK_BASE_URL: `${mock.url}/v1` }),
  },
  {
    name: 'Responses',
    path: '/v1/responses',
    model: 'openai/gpt-5.5',
    // The vendor's own address, as a layer moves it: what the variable names speaks otherwise.
    env: () => ({ OPENAI_API_KEY: 'sk-of-nobody-1234567890' }),
  },
  {
    name: 'Messages',
    path: '/v1/messages',
    model: 'anthropic/claude-sonnet-5',
    env: () => ({ ANTHROPIC_BASE_URL: mock.url, ANTHROPIC_API_KEY: 'sk-ant-of-nobody-1234567890' }),
  },
]

async function atVendor(place: Place): Promise<string[]> {
  const file = join(place.base, 'vendor.yml')
  const url = JSON.stringify(`${mock.url}/v1`)
  await writeFile(
    file,
    `- { id: model-openai, merge: { providers: { openai: { baseURL: ${url} } } } }`,
  )
  return ['--patch', file]
}

describe.each(protocols)('$name against a server that this project did not write', (protocol) => {
  it('mends the sample project through the real command line', async () => {
    await using place = await makePlace()
    mock.clearRequests()
    const args = [...(await atVendor(place)), '--output', 'stream-json', 'Fix the failing test']
    const { code, stdout, stderr } = await runCli(place, args, { env: protocol.env() })
    expect(code, stderr).toBe(0)

    const result = jsonLines(stdout).at(-1)
    expect(result).toMatchObject({ reason: 'completed', model: protocol.model, answer })
    const fixed = await readFile(join(place.project, 'src/cart.js'), 'utf8')
    expect(fixed).toContain('sum * discount / 100')

    const requests = mock.getRequests()
    expect(requests.map(({ path }) => path)).toEqual(Array(6).fill(protocol.path))

    const [id = ''] = sessionIds(place.home)
    const facts = readLog(place.home, id)
    const results = facts.filter(toolResult.is).map(({ data }) => [data.name, data.part.isError])
    expect(results.slice(0, 2).sort()).toEqual([
      ['list', false],
      ['read', false],
    ])
    expect(results.slice(2)).toEqual([
      ['bash', true],
      ['read', false],
      ['edit', false],
      ['bash', false],
    ])
    expect(facts.filter(assistantMessage.is)).toHaveLength(6)
  })
})

describe('the default model', () => {
  const env = () => Object.assign({}, ...protocols.map((protocol) => protocol.env()))

  it.each([
    [[], 'deepseek/deepseek-v4-flash'],
    [['DEEPSEEK_BASE_URL'], 'openai/gpt-5.5'],
    [['DEEPSEEK_BASE_URL', 'OPENAI_API_KEY'], 'anthropic/claude-sonnet-5'],
  ])('is, without %j, %s', async (without, model) => {
    await using place = await makePlace('empty')
    const given = Object.entries<string>(env()).filter(([name]) => !without.includes(name))
    const options = ['--output', 'json', '--max-steps', '1', 'Say hello']
    const args = [...(await atVendor(place)), ...options]
    const { stdout } = await runCli(place, args, { env: Object.fromEntries(given) })
    expect(JSON.parse(stdout)).toMatchObject({ model })
  })

  it('is whatever --model names, undeclared ids included', async () => {
    await using place = await makePlace('empty')
    mock.clearRequests()
    const args = ['--model', 'openai/some-local-model:7b', '--output', 'json', '--max-steps', '1']
    const layer = await atVendor(place)
    const { stdout } = await runCli(place, [...layer, ...args, 'Say hello'], { env: env() })
    expect(JSON.parse(stdout)).toMatchObject({ model: 'openai/some-local-model:7b' })
    expect(mock.getRequests()[0]?.body).toMatchObject({ model: 'some-local-model:7b' })
  })
})

describe('a server of the person', () => {
  it('is spoken to in Chat Completions where OPENAI_BASE_URL names it', async () => {
    await using place = await makePlace('empty')
    mock.clearRequests()
    const args = ['--model', 'openai/qwen3:8b', '--max-steps', '1', 'Say hello']
    const { stderr } = await runCli(place, args, { env: { OPENAI_BASE_URL: `${mock.url}/v1` } })
    expect(mock.getRequests()[0]?.path, stderr).toBe('/v1/chat/completions')
  })
})
