import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { estimateTokens } from '@cordage/core/model'
import {
  contextMessage,
  requestAt,
  requestHeader,
  stepStart,
  systemMessage,
  type Fact,
} from '@cordage/core/session'
import { textOf } from '@cordage/core/message'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStage, protocols, type Stage } from './stage.ts'

const BUDGET = 2_500
// The estimate is within 15 % of what real tokenizers count.
const MARGIN = 1.15

const call = (name: string, args: object, id = 'call_1') => ({
  calls: [{ id, name, arguments: [JSON.stringify(args)] }],
})

/** Everything of a body but the end of its list of messages, which is the last thing in it. */
const openEnd = (text: string): string => text.replace(/\]\}$/, '')

describe.each(protocols)('what a server of %s received', (api) => {
  let stage: Stage
  let facts: Fact[]
  let texts: string[]

  beforeAll(async () => {
    stage = await openStage(api)
    await stage.turn(
      'Fix the failing test',
      { reasoning: ['Look.'], replay: 'c2ln', text: ['I look.'], ...call('list', { path: '.' }) },
      { ...call('read', { file_path: 'no-such-file' }) },
      { reasoning: ['Run.'], replay: 'c2ln', ...call('bash', { command: 'echo 你好; exit 1' }) },
      { text: ['Done.'] },
    )
    await writeFile(join(stage.place.project, 'AGENTS.md'), 'Be kind to carts.\n')
    stage.failNext()
    await stage.turn('And again', call('glob', { pattern: '**/*.js' }), { text: ['Twice.'] })
    await stage.restart()
    await stage.turn('After a restart', { text: ['Still here.'] })
    texts = stage.peer.requests.map(({ text }) => text)
    facts = []
    for await (const fact of stage.agent.session.read(0)) facts.push(fact)
  })
  afterAll(() => stage[Symbol.asyncDispose]())

  it('is one request a step and one for each retry: nobody asks a model in secret', () => {
    expect(texts).toHaveLength(facts.filter(stepStart.is).length + 1)
  })

  it('begins, byte for byte, with the request before', () => {
    for (const [at, text] of texts.entries()) {
      const before = texts[at - 1]
      if (before === undefined) continue
      expect(text === before || text.startsWith(`${openEnd(before)},`), `request ${at}`).toBe(true)
    }
  })

  it('changes its prefix only where a fact says why', () => {
    expect(facts.filter(systemMessage.is)).toHaveLength(1)
    expect(facts.filter(requestHeader.is)).toHaveLength(1)
  })
})

describe('the default profile', () => {
  it('spends at most 2,500 tokens before the first word of the user', async () => {
    await using stage = await openStage('openai-completions')
    await stage.turn('Hi', { text: ['Hello.'] })
    const facts: Fact[] = []
    for await (const fact of stage.agent.session.read(0)) facts.push(fact)
    const parts = [
      ...(facts.find(requestHeader.is)?.data.origin ?? []),
      ...facts.filter(contextMessage.is).map(({ data }) => ({
        part: `context: ${data.id}`,
        row: data.row,
        tokens: estimateTokens(textOf(data.message)),
      })),
    ]
    const lines = parts.map(({ part, row, tokens }) => {
      return `${String(tokens).padStart(5)}  ${part.padEnd(24)} ${row}`
    })
    const logged = await requestAt(facts, 1, 1)
    const messages = logged?.messages.filter(({ message }) => message.source.kind !== 'user') ?? []
    const all =
      estimateTokens(JSON.stringify(logged?.header.tools)) +
      messages.reduce((sum, { message }) => sum + estimateTokens(textOf(message)) + 4, 0)
    const spent = Math.ceil(all * MARGIN)
    console.log(`${lines.join('\n')}\n${all} estimated, ${spent} with a margin of 15 %`)
    expect(parts.length).toBeGreaterThan(10)
    expect(spent).toBeLessThanOrEqual(BUDGET)
  })
})
