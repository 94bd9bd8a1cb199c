import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mentionsIn } from '../src/mentions.ts'

/** What each word may mean, the first first. */
const words = (text: string) => mentionsIn(text).words.map(({ candidates }) => candidates)
const firstOf = (text: string) => words(text).map(([first]) => first)

describe('a path', () => {
  it.each([
    ['look at @src/a.ts please', ['src/a.ts']],
    ['@README.md', ['README.md']],
    ['(@a.ts) and [@b.ts]', ['a.ts)', 'b.ts]']],
    ['@"my file.md" and @"与 空格.md"', ['my file.md', '与 空格.md']],
    ['@src/ @/etc/hosts @../x', ['src/', '/etc/hosts', '../x']],
    ['看一下@文档/设计.md，再看@src/a.ts。', ['文档/设计.md', 'src/a.ts']],
    ['@a.ts @a.ts', ['a.ts']],
    ['@app/(group)/[id].tsx', ['app/(group)/[id].tsx']],
    ['@a.ts,@src/', ['a.ts,', 'src/']],
    ['比较@a.ts和@b.ts', ['a.ts和', 'b.ts']],
    ['@node_modules/@types/node/', ['node_modules/@types/node/']],
    ['```a``` as in @a.ts', ['a.ts']],
    ['```md\n```js\n@a.ts\n```\n@b.ts', ['b.ts']],
  ])('is what follows the sign: %j', (text, expected) => {
    expect(firstOf(text)).toEqual(expected)
  })

  it.each([
    ['@a.ts, then', 'a.ts'],
    ['is it @a.ts?', 'a.ts'],
    ['(@dir/)', 'dir/'],
    ['@src/a.ts这个文件', 'src/a.ts'],
    ['@src/a.ts和b.ts的区别', 'src/a.ts'],
    ['@文档/设计.md的内容', '文档/设计.md'],
    ['@src/a.ts——它', 'src/a.ts'],
    ['@src/a.ts～', 'src/a.ts'],
    ['@a.ts🙂', 'a.ts'],
  ])('may end before what touches it: %j', (text, path) => {
    expect(words(text)[0]).toContain(path)
  })

  it.each([
    'mail ada@example.com or b.c+d@example.com',
    'git clone git@github.com:a/b',
    'https://x.example/@scope/name and node_modules/@types/node',
    'x=@y a@b é@b',
    'an @ alone and @',
    '`@decorator` and ``code``',
    '```ts\n@Injectable()\nclass A {}\n```',
    '~~~\n@a.ts\n```\n@b.ts\n~~~',
    '```\n@open/to/the/end',
  ])('is nothing that an address, a scope or code has: %j', (text) => {
    expect(mentionsIn(text)).toEqual({ sessions: [], words: [] })
  })

  it('is no word that nobody types', () => {
    expect(words(`@${'x'.repeat(1_025)}`)).toEqual([])
  })
})

describe('a session', () => {
  it.each([
    ['as in @session:01ABC.', ['01ABC']],
    ['@session:01ABC和@session:01abd', ['01ABC', '01abd']],
    ['@session:01A @session:01A', ['01A']],
  ])('is its id or how that begins: %j', (text, sessions) => {
    expect(mentionsIn(text)).toEqual({ sessions, words: [] })
  })

  it.each(['@session', 'x@session:01A', '`@session:01A`', '@Session:01A'])(
    'is nothing else: %j',
    (text) => {
      expect(mentionsIn(text).sessions).toEqual([])
    },
  )
})

it('is found in any text, in time that grows with its length alone', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 500 }), (text) => {
      const { sessions, words } = mentionsIn(text)
      for (const { candidates } of words) expect(candidates.join('')).not.toBe('')
      expect(sessions.every((id) => text.includes(id))).toBe(true)
    }),
  )
  const lines = Array.from({ length: 3_000 }, (_, at) => '`'.repeat(3_100 - at))
  expect(mentionsIn(`${'@'.repeat(1_000_000)}\n${lines.join('\n')}`).sessions).toEqual([])
})
