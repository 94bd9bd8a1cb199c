import { afterEach, describe, expect, it } from 'vitest'
import { compactionSummary } from '@cordage/core/session'
import { defineTool } from '@cordage/core/tool'
import { z } from 'zod'
import { call, say, type Reply } from '../../../core/test/loop/boot.ts'
import { LONG, snapshot, stage, type Stage } from './stage.ts'

let made: Stage
afterEach(() => made.close())

/** Tools by the names that the facts are read from; a path or command with `bad` in it fails. */
const shell = (name: string, parameters: z.ZodType<Record<string, string>>) =>
  defineTool({
    name,
    description: name,
    parameters,
    effects: () => [],
    execute: async (args: Record<string, string>) => ({ text: `ran ${Object.values(args)[0]}` }),
    render: ({ text }) => text,
    failed: ({ text }) => text.includes('bad'),
  })

const tools = [
  shell('bash', z.strictObject({ command: z.string() })),
  shell('write', z.strictObject({ file_path: z.string(), content: z.string() })),
]

let calls = 0
const use = (name: string, args: unknown) =>
  call({ id: `call-${calls++}`, name, arguments: JSON.stringify(args) })

async function start(replies: Reply[], config = {}) {
  made = await stage(
    replies,
    { minMessagesToSummarize: 2, ...config },
    {
      tools: (add) => tools.forEach((tool) => add(tool)),
    },
  )
}

const TASK = `Mend the parser so that \`parseDate("2024-02-30")\` is refused.
Never touch src/lexer.ts. 不要修改数据库。
Done when npm test passes. The ticket is PARSE-117.`

describe('what no summary may lose', () => {
  it('is carried word for word, though the model says nothing of it', async () => {
    await start([
      use('write', { file_path: 'src/date.ts', content: 'x' }),
      use('bash', { command: 'npm test' }),
      use('bash', { command: 'git push bad' }),
      say(`${LONG}\n- [x] refuse\n- [ ] document PARSE-117\n\nNext I write the guide.`),
      say('two'),
      say(snapshot('nothing at all')),
    ])
    await made.turn(TASK)
    await made.turn('two')
    await made.command('/compact')
    const [summary = ''] = made.texts()
    for (const fact of [
      `goal: ${TASK}`,
      'constraint: Never touch src/lexer.ts.',
      'constraint: 不要修改数据库。',
      'acceptance: Done when npm test passes.',
      'exact: `parseDate("2024-02-30")`',
      'exact: PARSE-117',
      'todo: document PARSE-117',
      'next: Next I write the guide.',
      'test: npm test: passed, ran npm test',
      'error: bash git push bad: ran git push bad',
    ]) {
      expect(summary).toContain(fact)
    }
    expect(summary).toMatch(
      /file: src\/date\.ts \(write, 1 bytes of sha256 2d711642b726, fact \d+\)/,
    )
  })

  it('is what holds now: a test that passes again, an error that is mended, a task that is done', async () => {
    await start([
      use('bash', { command: 'npm test -- bad' }),
      use('write', { file_path: 'bad.ts', content: '1' }),
      say(`${LONG}- [ ] one\n- [ ] two`),
      use('bash', { command: 'npm run check' }),
      say(`${LONG}- [x] one\n- [ ] two`),
      say('three'),
      say(snapshot()),
    ])
    await made.turn('Go.')
    await made.turn('two')
    await made.turn('three')
    await made.command('/compact')
    const [summary = ''] = made.texts()
    expect(summary).toContain('test: npm test -- bad: failed')
    expect(summary).toContain('test: npm run check: passed')
    expect(summary).toContain('error: write bad.ts')
    expect(summary).toContain('todo: two')
    expect(summary).not.toContain('todo: one')
    expect(summary).not.toContain('file: bad.ts')
  })

  it('survives ten generations of compaction', async () => {
    const generations = Array.from({ length: 10 }, (_, at) => [
      say(`${LONG} generation ${at}`),
      say(LONG),
      say(snapshot(`generation ${at}`)),
    ])
    await start(generations.flat())
    for (let at = 0; at < 10; at += 1) {
      await made.turn(at === 0 ? TASK : `And never use port ${8000 + at}.`)
      await made.turn('go on')
      await made.command('/compact')
    }
    const [summary = ''] = made.texts()
    expect(made.session.state(compactionSummary)).toHaveLength(10)
    expect(summary).toContain(`goal: ${TASK}`)
    expect(summary).toContain('constraint: 不要修改数据库。')
    for (let at = 1; at < 10; at += 1) {
      expect(summary).toContain(`constraint: And never use port ${8000 + at}.`)
    }
    expect(summary).toContain('generation 9')
    expect(made.texts()).toHaveLength(3)
  })

  it('cannot close the frame that it stands in', async () => {
    await start([say(LONG), say('two'), say(snapshot())])
    await made.turn('Never write </pinned_facts> or <state_snapshot> here.')
    await made.turn('two')
    await made.command('/compact')
    const [summary = ''] = made.texts()
    expect(summary.match(/<\/pinned_facts>/g)).toHaveLength(1)
    expect(summary).toContain('constraint: Never write &lt;/pinned_facts>')
  })

  it('gives way to the most important where there is too much of it', async () => {
    await start([say(LONG), say('two'), say(snapshot())], { maxPinnedTokens: 60 })
    const ids = Array.from({ length: 50 }, (_, at) => `ABC-${1000 + at}`).join(' ')
    await made.turn(`Short goal. Never push.`)
    await made.turn(ids)
    await made.command('/compact')
    const [summary = ''] = made.texts()
    expect(summary).toContain('goal: Short goal. Never push.')
    expect(summary).toContain('constraint: Never push.')
    expect(summary.match(/exact: /g)?.length ?? 0).toBeLessThan(50)
  })
})
