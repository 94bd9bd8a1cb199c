import { newId, textMessage, type Message } from '@cordage/core/message'
import type { PinnedFact, SurfaceEntry } from '@cordage/core/session'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pinnedOf, type PinSource } from '../src/pinned.ts'

const user = { kind: 'user' } as const
const model = { kind: 'model', provider: 'p', model: 'm' } as const

/** A history of these words; what begins with `>` was said by the model. */
function history(...words: string[]): SurfaceEntry[] {
  return words.map((text, seq) => {
    const isModel = text.startsWith('>')
    const message = isModel
      ? textMessage(newId(), 'assistant', text.slice(1), model)
      : textMessage(newId(), 'user', text, user)
    return { seq, message }
  })
}

/** A call with its result, after facts up to `seq`. */
function called(seq: number, name: string, args: object, text: string, isError = false) {
  const id = `c${seq}`
  const call = { type: 'tool-call', id, name, arguments: JSON.stringify(args) } as const
  const content = [{ type: 'text', text }] as const
  const part = { type: 'tool-result', callId: id, name, content, isError } as const
  const said: Message = { id: newId(), role: 'assistant', content: [call], source: model }
  const source = { kind: 'tool', callId: id } as const
  return [
    { seq, message: said },
    { seq: seq + 1, message: { id: newId(), role: 'tool', content: [part], source } as Message },
  ]
}

function pins(entries: readonly SurfaceEntry[], more: Partial<PinSource> = {}): PinnedFact[] {
  return pinnedOf({
    earlier: [],
    entries,
    asksLater: true,
    contributed: new Map(),
    maxTokens: 8_000,
    episodeId: 'e1',
    ...more,
  })
}
const texts = (kind: string, found: readonly PinnedFact[]) =>
  found.filter((fact) => fact.kind === kind).map(({ text }) => text)

describe('of what is said', () => {
  const cases: [what: string, kind: string, said: string, pinned?: string][] = [
    ['the goal', 'goal', 'Mend the parser.'],
    ['目标 (the goal)', 'goal', '修好解析器。'],
    [
      'acceptance criteria',
      'acceptance',
      'It is done when all suites are green.',
      'It is done when all suites are green.',
    ],
    ['验收标准 (acceptance criteria)', 'acceptance', '验收：全部测试通过。'],
    ['完了条件 (acceptance criteria)', 'acceptance', '完了条件はテストが通ること。'],
    ['constraints', 'constraint', 'Answers must stay below 2 KB.'],
    ['约束 (constraints)', 'constraint', '必须用 Node 24 运行。'],
    ['制約 (constraints)', 'constraint', '必ず Node 24 で動かす。'],
    ["the user's prohibitions", 'constraint', "Don't push to main."],
    ['禁止事项 (prohibitions)', 'constraint', '不得修改生产数据库。'],
    ['禁止事項 (prohibitions)', 'constraint', '本番データベースに触らないで。'],
    ['obligations of the work', 'obligation', 'Remember to update the guide.'],
    ['义务 (obligations)', 'obligation', '记得更新文档。'],
    ['義務 (obligations)', 'obligation', '忘れずに文書を更新。'],
    [
      'obligations that the model took on',
      'obligation',
      '>I will remove the flag once the tests pass.',
      'I will remove the flag once the tests pass.',
    ],
    [
      '模型的承诺 (obligations taken on)',
      'obligation',
      '>稍后我会删除这个开关。',
      '稍后我会删除这个开关。',
    ],
    [
      'confirmed facts with their source',
      'fact',
      '>Confirmed: the date is parsed twice (src/date.ts:12).',
      'Confirmed: the date is parsed twice (src/date.ts:12). (fact 0)',
    ],
    [
      '已确认的事实与来源 (confirmed facts)',
      'fact',
      '>已确认：端口是 48213，见 conf/app.toml。',
      '已确认：端口是 48213，见 conf/app.toml。 (fact 0)',
    ],
    [
      '確認済みの事実 (confirmed facts)',
      'fact',
      '>確認済み：ポートは 48213。',
      '確認済み：ポートは 48213。 (fact 0)',
    ],
    [
      'facts that the user tells',
      'fact',
      'Note that the port is 48213.',
      'Note that the port is 48213. (the user, fact 0)',
    ],
    ['open todo', 'todo', '>- [x] parse\n- [ ] document it', 'document it'],
    ['待办 (open todo)', 'todo', '>- [ ] 补充文档', '补充文档'],
    [
      'blockers',
      'blocker',
      '>I am blocked by the missing test database.',
      'I am blocked by the missing test database.',
    ],
    ['阻塞原因 (blockers)', 'blocker', '>目前卡在缺少测试数据库。', '目前卡在缺少测试数据库。'],
    [
      'ブロッカー (blockers)',
      'blocker',
      '>権限がなくてブロックされています。',
      '権限がなくてブロックされています。',
    ],
    ['the next action', 'next', '>Done so far.\n\nNext I run the suite.', 'Next I run the suite.'],
    ['下一步 (the next action)', 'next', '>写好了。\n\n下一步运行测试。', '下一步运行测试。'],
    ['exact ids', 'exact', 'The ticket is PARSE-117.', 'PARSE-117'],
    ['精确的 ID (exact ids)', 'exact', '工单是 PARSE-117，请看。', 'PARSE-117'],
    ['exact paths', 'exact', 'See src/deep/lexer.ts, please.', 'src/deep/lexer.ts'],
    [
      'interfaces: a signature',
      'interface',
      'Keep parseDate(text: string): Date as it is.',
      'parseDate(text: string): Date',
    ],
    [
      'interfaces: an endpoint',
      'interface',
      '>接口是 POST /v1/users/{id}，不变。',
      'POST /v1/users/{id}',
    ],
    ['parameters, in backticks', 'exact', 'Run it with `--retries 3`.', '`--retries 3`'],
  ]

  it.each(cases)('%s: %s', (_, kind, said, pinned = said) => {
    const first = kind === 'goal' ? [] : ['Begin.']
    const shifted = kind === 'goal' ? pinned : pinned.replace('fact 0', 'fact 1')
    expect(texts(kind, pins(history(...first, said)))).toContain(shifted)
  })

  it('what was only assumed is no confirmed fact', () => {
    const guesses = [
      '>It may be confirmed later.',
      '>The cause is not confirmed.',
      '>尚未确认原因。',
    ]
    expect(texts('fact', pins(history('Go.', ...guesses)))).toEqual([])
  })

  it('a blocker that is gone is none', () => {
    const words = [
      '>Blocked by the database.',
      '>We are unblocked now.',
      '>卡在权限上。',
      '>不再阻塞。',
    ]
    expect(texts('blocker', pins(history('Go.', ...words)))).toEqual([])
    expect(texts('blocker', pins(history('Go.', ...words.slice(0, 3))))).toEqual(['卡在权限上。'])
  })

  it('what is asked for now is carried where nothing that stays says it', () => {
    const entries = history('Mend the parser.', '>Done.', 'Now the lexer.', '>Looking.')
    expect(texts('request', pins(entries, { asksLater: false }))).toEqual(['Now the lexer.'])
    expect(texts('request', pins(entries))).toEqual([])
    const earlier = pins(entries, { asksLater: false })
    const later = pins(history('>Still looking.'), { earlier, asksLater: false })
    expect(texts('request', later)).toEqual(['Now the lexer.'])
    expect(texts('request', pins(history('And that?'), { earlier }))).toEqual([])
  })
})

describe('of what was done', () => {
  it('touched files, each with what the log has of its version', () => {
    const entries = [
      ...history('Go.'),
      ...called(1, 'write', { file_path: 'a.ts', content: 'x' }, 'Created a.ts, 1 line.'),
      ...called(3, 'write', { file_path: '说明.md', content: '你好' }, 'Created, 1 line.'),
      ...called(5, 'edit', { file_path: 'b.ts' }, 'Edited b.ts: 2 replacements, +3 -1. Now:\n1\tx'),
      ...called(7, 'apply_patch', { patch: '*** Update File: c.ts\n@@' }, 'Updated c.ts.'),
      ...called(9, 'edit', { file_path: 'd.ts' }, 'not found', true),
    ]
    expect(texts('file', pins(entries))).toEqual([
      'c.ts (apply_patch, Updated c.ts., fact 7)',
      'b.ts (edit, Edited b.ts: 2 replacements, +3 -1. Now, fact 5)',
      '说明.md (write, 6 bytes of sha256 670d9743542c, fact 3)',
      'a.ts (write, 1 bytes of sha256 2d711642b726, fact 1)',
    ])
  })

  it('the last version of a file alone', () => {
    const write = (seq: number, content: string) =>
      called(seq, 'write', { file_path: 'a.ts', content }, 'Overwrote a.ts: lines +1 -1.')
    const entries = [...history('Go.'), ...write(1, 'x'), ...write(3, 'y')]
    expect(texts('file', pins(entries))).toEqual([
      expect.stringMatching(/a\.ts \(write, .*fact 3\)/),
    ])
  })

  it('test results and unresolved errors, until they are others', () => {
    const entries = [
      ...history('跑测试。'),
      ...called(1, 'bash', { command: 'npm test' }, '3 failed', true),
      ...called(3, 'bash', { command: 'psql prod' }, '连接被拒绝', true),
    ]
    expect(texts('test', pins(entries))).toEqual(['npm test: failed, 3 failed'])
    expect(texts('error', pins(entries))).toEqual([
      'bash psql prod: 连接被拒绝',
      'bash npm test: 3 failed',
    ])
    const mended = [...entries, ...called(5, 'bash', { command: 'npm test' }, '12 passed')]
    expect(texts('test', pins(mended))).toEqual(['npm test: passed, 12 passed'])
    expect(texts('error', pins(mended))).toEqual(['bash psql prod: 连接被拒绝'])
  })
})

describe('what has no room', () => {
  it('is named by its kind and its episode, and still is when all of that was summed up again', () => {
    const ids = Array.from({ length: 90 }, (_, at) => `ABC-${1_000 + at}`).join(' ')
    const first = pins(history('Go.', ids))
    expect(texts('exact', first)).toHaveLength(60)
    expect(texts('left_out', first)).toEqual([
      'no room for 30 exact: episode e1 and those before it have them',
    ])
    const second = pins(history('Never push.'), { earlier: first, episodeId: 'e2' })
    expect(texts('left_out', second)).toEqual(texts('left_out', first))
    const third = pins(history('Go on.'), { earlier: second, episodeId: 'e3', maxTokens: 40 })
    expect(texts('left_out', third)).toEqual([
      ...texts('left_out', first),
      expect.stringMatching(/^no room for \d+ exact: episode e3 and those/),
    ])
  })

  it('is not what was said before a text that somebody pasted', () => {
    const rules = Array.from({ length: 100 }, (_, at) => `A sender MUST NOT send frame ${at}.`)
    const pasted = `Only read it.\n${rules.join('\n')}\n不要改它。`
    const found = texts('constraint', pins(history('Mend it.', 'Never touch a/b.ts.', pasted)))
    expect(found).toHaveLength(40)
    for (const text of ['Never touch a/b.ts.', 'Only read it.', '不要改它。']) {
      expect(found).toContain(text)
    }
  })

  it('is the oldest of its kind, however often all of it was summed up again', () => {
    let carried: PinnedFact[] = []
    for (let generation = 1; generation <= 4; generation += 1) {
      const said = Array.from({ length: 30 }, (_, at) => `Never do ${generation * 100 + at}.`)
      carried = pins(history('Go.', ...said), { earlier: carried, episodeId: `e${generation}` })
    }
    const numbers = texts('constraint', carried).map((text) => Number(/\d+/.exec(text)))
    const newest = [...Array(30).keys()].map((at) => 429 - at)
    expect(numbers).toEqual([...newest, ...[...Array(10).keys()].map((at) => 329 - at)])
  })

  it.each([
    ['a goal', `${'Mend it all. '.repeat(2_000)}The end.`],
    ['中文目标 (a goal)', `${'全部修好，'.repeat(4_000)}就这样。`],
    ['emoji', `${'😀'.repeat(9_000)}.`],
  ])('of %s shows its ends, how much is missing, and the episode that has it', (_, text) => {
    const [goal = ''] = texts('goal', pins(history(text)))
    expect(goal.length).toBeLessThan(4_100)
    expect(goal).toMatch(/ \[… \d+ characters: episode e1 …\] /)
    expect([goal.slice(0, 6), goal.slice(-1)]).toEqual([text.slice(0, 6), text.slice(-1)])
    expect(goal.isWellFormed()).toBe(true)
  })

  it('is never what matters most: one long fact takes a quarter at most', () => {
    const long = `Never ${'touch this and that and '.repeat(24)}more.`
    const found = pins(history(`Short goal. ${long} Never push.`, long), { maxTokens: 400 })
    expect(texts('goal', found)).toHaveLength(1)
    expect(texts('constraint', found).join('\n')).toContain('Never push.')
  })

  it('keeps within the tokens, and says what it drops, whatever is said', () => {
    const words = fc.constantFrom(
      'Never do',
      '不要',
      'ABC-12',
      'must',
      '`x y`',
      'a/b.ts',
      '😀',
      '。',
      '\n',
    )
    const said = fc.array(words, { maxLength: 60 }).map((all) => all.join(' '))
    fc.assert(
      fc.property(
        fc.array(said, { maxLength: 8 }),
        fc.integer({ min: 1, max: 300 }),
        (all, maxTokens) => {
          const whole = pins(history(...all))
          const found = pins(history(...all), { maxTokens })
          const kept = found.filter(({ kind }) => kind !== 'left_out').length
          const [left = ''] = texts('left_out', found)
          const dropped = [...left.matchAll(/(\d+) \w+(?=[,:])/g)].reduce(
            (n, [, count]) => n + Number(count),
            0,
          )
          expect(kept + dropped).toBe(whole.filter(({ kind }) => kind !== 'left_out').length)
          for (const { text } of found) expect(text.isWellFormed()).toBe(true)
        },
      ),
    )
  })
})
