import { textOf } from '@cordage/core/message'
import { estimateMessage, estimateTokens } from '@cordage/core/model'
import { defineTool } from '@cordage/core/tool'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { call, say, type BenchOptions, type Reply } from '../../../core/test/loop/boot.ts'
import { failing, LONG, snapshot, stage, type Stage } from './stage.ts'

let made: Stage
afterEach(() => made.close())

const overflow = () => failing('CONTEXT_WINDOW_EXCEEDED')
const small = { model: 'window/8000' }
const latin = `Which line is wrong? ${'the log says nothing of it; '.repeat(4_000)} Look at the end!`
const chinese = `哪一行出错了？${'日志里什么都没有写，'.repeat(3_000)}请看最后一行！`

async function start(replies: Reply[], options: BenchOptions = {}, config = {}) {
  made = await stage(replies, { summaryRetries: 0, ...config }, { choice: small, ...options })
}

/** What the last request holds, in estimated tokens. */
function lastTokens(): number {
  const { messages = [] } = made.requests.at(-1) ?? {}
  return messages.reduce((sum, { message }) => sum + estimateTokens(textOf(message)), 0)
}

/** Answers snapshots while it is asked for them, and `answer` after that. */
function summing(answer: string): Reply {
  return async function* ({ messages }) {
    const last = textOf(messages.at(-1)!.message)
    yield* say(last.includes('Do not call tools.') ? snapshot('一段') : answer)
  }
}
const summaries = (answer: string, count = 60) =>
  Array.from({ length: count }, () => summing(answer))

describe('a message larger than the window, where nothing spills', () => {
  it.each([
    ['Latin', latin, 'Which line is wrong?', 'Look at the end!'],
    ['Chinese', chinese, '哪一行出错了？', '请看最后一行！'],
  ])(
    'of %s words is answered: its ends stay, the middle is summed up',
    async (_, text, head, tail) => {
      await start([overflow(), ...summaries('line 7')])
      expect(estimateTokens(text)).toBeGreaterThan(16_000)
      expect(await made.turn(text)).toMatchObject({ reason: 'completed' })
      const [summary = '', ...rest] = made.texts()
      expect(rest).toEqual(['line 7'])
      expect(summary).toContain(head)
      expect(summary).toContain(tail)
      expect(summary).toMatch(/characters: episode e1 …\]/)
      expect(lastTokens()).toBeLessThan(7_500)
      expect(summary.isWellFormed()).toBe(true)
      expect(summary.endsWith('Go on with what was asked last.')).toBe(true)
    },
  )

  it('is answered where no model can sum it up either', async () => {
    await start([overflow(), failing('SERVER'), say('line 7')])
    expect(await made.turn(latin)).toMatchObject({ reason: 'completed' })
    expect(made.texts()[0]).toContain('Look at the end!')
    expect(made.texts()[0]).toContain('No model could be had')
  })

  it('that stands in a history of another profile is summed up before the next step', async () => {
    await start([say('noted'), ...summaries('line 7')], { choice: { model: 'window/900000' } })
    await made.turn(latin)
    made.agent.choice = { model: 'window/8000', params: {} }
    expect(await made.turn('And now?')).toMatchObject({ reason: 'completed' })
    expect(await made.ends()).toEqual(['ok'])
    expect(made.texts().slice(-2)).toEqual(['And now?', 'line 7'])
    expect(lastTokens()).toBeLessThan(7_500)
  })

  it('that is the last answer does not bar a switch to a smaller window', async () => {
    await start([say(chinese), ...summaries('done')], { choice: { model: 'window/900000' } })
    await made.turn('one')
    made.agent.choice = { model: 'window/8000', params: {} }
    expect(await made.turn('two')).toMatchObject({ reason: 'completed' })
    expect(made.texts()).toHaveLength(3)
  })
})

describe('a tool result larger than the window, where nothing spills or prunes', () => {
  const tool = (text: string) =>
    defineTool({
      name: 'dump',
      description: 'dump',
      parameters: z.strictObject({}),
      effects: () => [],
      execute: async () => ({ text }),
      render: (value) => value.text,
    })

  it.each([
    ['one', 1, 'x1y2 '.repeat(15_000)],
    ['one in Chinese', 1, '结果如下，'.repeat(5_000)],
    ['four together', 4, 'x1y2 '.repeat(4_000)],
  ])('%s: is summed up with its call, and the turn goes on', async (_, count, text) => {
    const calls = Array.from({ length: count }, (__, at) => {
      return { id: `c${at}`, name: 'dump', arguments: '{}' }
    })
    await start([say('ready'), call(...calls), ...summaries('seen')], {
      tools: (add) => add(tool(text)),
    })
    await made.turn('Be ready.')
    expect(await made.turn('Dump it all.')).toMatchObject({ reason: 'completed' })
    expect(made.texts().at(-1)).toBe('seen')
    expect(made.texts()[0]).toContain('request: Dump it all.')
    expect(lastTokens()).toBeLessThan(7_500)
    expect(made.session.surface.filter(({ message }) => message.role === 'tool')).toEqual([])
  })
})

it('a history that is too large for the summary call as well is summed up in chunks', async () => {
  const over = overflow()
  await start([say(latin.slice(0, 9_000)), say('two'), over, over, ...summaries('three')])
  await made.turn('one')
  await made.turn('two')
  expect(await made.turn('three')).toMatchObject({ reason: 'completed' })
  const firsts = made.requests.slice(4).map(({ messages }) => textOf(messages[0]!.message))
  expect(firsts.filter((text) => text.includes('<conversation>')).length).toBeGreaterThan(1)
  expect(made.texts()[0]).toContain('一段')
})

it('in chunks, each has room beside what those before it came to, however long answers may be', async () => {
  const long: Reply = async function* ({ params: { maxTokens = 0 } }) {
    yield* say(snapshot('was said '.repeat(Math.floor(maxTokens / 12))))
  }
  const summaries = Array.from({ length: 30 }, () => long)
  made = await stage([say(LONG.repeat(4)), say(LONG.repeat(4)), ...summaries])
  await made.turn('one')
  await made.turn('two')
  made.agent.choice = { model: 'window/1300', params: {} }
  await made.turn('three')
  const asked = made.requests.filter(({ messages }) => {
    return textOf(messages.at(-1)!.message).includes('current_plan')
  })
  expect(asked.length).toBeGreaterThan(4)
  for (const { messages, params } of asked) {
    const input = messages.reduce((sum, { message }) => sum + estimateMessage(message), 0)
    expect(input + (params.maxTokens ?? 0)).toBeLessThanOrEqual(1_300)
  }
  expect(await made.ends()).toEqual(['ok'])
})

it('the tail is kept where it has room, however large the rest is', async () => {
  await start([say(latin.slice(0, 20_000)), ...summaries('short')])
  await made.turn('one')
  await made.turn('two')
  await made.turn('three')
  expect(made.texts().slice(-4)).toEqual(['two', 'short', 'three', 'short'])
})
