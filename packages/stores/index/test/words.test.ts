import { indexedWords, matchOf, termsOf } from '@cordage/core/search'
import Sqlite from 'better-sqlite3'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { snippetOf } from '../src/snippet.ts'

let database: Sqlite.Database
beforeAll(() => {
  database = new Sqlite(':memory:')
  database.exec(`CREATE VIRTUAL TABLE word USING fts5 (words, wholes, tokenize = 'ascii')`)
})
afterAll(() => void database.close())

/** Which of the texts are found, by their place. */
function found(texts: readonly string[], query: string): number[] {
  const insert = database.prepare('INSERT INTO word (rowid, words, wholes) VALUES (?, ?, ?)')
  database.exec('DELETE FROM word')
  for (const [at, text] of texts.entries()) {
    const { words, wholes } = indexedWords(text)
    insert.run(at, words, wholes)
  }
  const terms = termsOf(query)
  if (terms.length === 0) return []
  const select = database.prepare('SELECT rowid FROM word WHERE word MATCH ? ORDER BY rowid')
  return select.pluck().all(matchOf(terms)) as number[]
}

const isFound = (text: string, query: string) => found([text], query).length === 1

describe('a text is found by', () => {
  it.each([
    ['The quick brown fox', 'QUICK'],
    ['Café crème, naïve façade', 'cafe FACADE'],
    ['El Niño', 'nin\u0303o'],
    ['Straße', 'straße'],
    ['ΟΔΟΣ', 'οδος'],
    ['Ёлка', 'елка'],
    ['İstanbul', 'istanbul'],
    ["don't stop", "don't"],
    ['我们用数据库保存会话', '数据'],
    ['我们用数据库保存会话', '会话'],
    ['我们用数据库保存会话', '数据库保存'],
    ['我们用数据库保存会话', '库'],
    ['我们用数据库保存会话', '话'],
    ['中国', '国'],
    ['東京タワーに行きました', 'タワー'],
    ['ｶﾞﾗｽ', 'ガラス'],
    ['한국어 형태소 분석', '형태'],
    ['สวัสดีชาวโลก', 'ชาว'],
    ['葛󠄀城市', '葛城'],
    ['使用React框架', 'react'],
    ['使用React框架', '使用react框架'],
    ['使用React框架', 'React框'],
    ['使用 React 框架', '"使用 react"'],
    ['ＡＢＣ１２３', 'abc123'],
    ['done 🎉 at last', '🎉'],
    ['👩‍💻 at work', '👩‍💻'],
    ['👍🏽', '👍'],
    ['🇩🇪 and 🇫🇷', '🇫🇷'],
    ['❤️', '❤'],
    ['max_output_bytes', 'max_output_bytes'],
    ['max_output_bytes', 'output'],
    ['parseConfigFile()', 'parseConfigFile'],
    ['parseConfigFile()', 'parseconfigfile'],
    ['parseConfigFile()', 'parseConfig'],
    ['parseConfigFile()', 'config file'],
    ['parse_config', 'parseConfig'],
    ['parseconfig', 'parseConfig'],
    ['HTMLParser', 'parser'],
    ['utf8Decode', 'utf8 decode'],
    ['packages/stores/index/src/words.ts', 'stores/index'],
    ['packages/stores/index/src/words.ts', 'words.ts'],
    ['node --test --watch', '--test'],
    ['a phrase of words', '"phrase of"'],
    ['a phrase of words', 'phr*'],
    ['a phrase of words', '"of wor*"'],
    ['می\u200cخواهم', 'می\u200cخواهم'],
    ['x\u0000y', 'y'],
  ])('%j: %j', (text, query) => {
    expect(isFound(text, query)).toBe(true)
    expect(snippetOf(`${'filler '.repeat(60)}${text}`, termsOf(query))).toContain(
      [...text.replaceAll(/\s+/g, ' ')].at(0),
    )
  })
})

describe('a text is not found by', () => {
  it.each([
    ['The quick brown fox', 'quic'],
    ['The quick brown fox', 'quick dog'],
    ['The quick brown fox', '"brown quick"'],
    ['我们用数据库', '据数'],
    ['我们用数据库', '数库'],
    ['数据。库存', '据库'],
    ['parseConfigFile readJson', '"parseconfigfile readjson"'],
    ['parse a config', 'parseConfig'],
    ['a phrase', 'phrase OR nothing'],
    ['a phrase', 'NOT'],
    ['🎉', '🎂'],
  ])('%j: %j', (text, query) => {
    expect(isFound(text, query)).toBe(false)
  })
})

describe('whatever is asked', () => {
  it.each([
    '"',
    '""',
    'a"b',
    '" OR 1=1 --',
    'words:secret',
    '{words wholes}: a',
    'NEAR(a b, 3)',
    'a AND NOT b',
    '^a',
    'a* b*',
    '*',
    '-a',
    '(a',
    "'; DROP TABLE word; --",
    '\u0000',
    'a\u0000b',
    '\ud800',
    '\ufffd',
    '%_%',
    '\u202e',
    `${'x '.repeat(200)}`,
    'x'.repeat(100_000),
  ])('is words and nothing else: %j', (query) => {
    expect(() => found(['a b words secret or not'], query)).not.toThrow()
  })

  it('of any characters is never an error of the database', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (text, query) => {
        found([text], query)
      }),
    )
  })
})

/** Parts of texts whose words are known without cutting them. */
const words = 'alpha beta gamma Delta ÉTÉ naïve x1 42 ёж ὁδός مرحبا 🎉 👾'.split(' ')
const word = fc.constantFrom(...words)
const run = fc.string({
  unit: fc.constantFrom(...'数据库保存会话東京あいう한국어'),
  minLength: 2,
  maxLength: 8,
})
const piece = fc.oneof(word, run)
const separator = fc.constantFrom(' ', ', ', '\n', '。', ' - ', '/', '"', '\t', '\u3000')
const text = fc
  .array(fc.tuple(piece, separator), { minLength: 1, maxLength: 8 })
  .map((parts) => ({ pieces: parts.map(([one]) => one), text: parts.flat().join('') }))

const isRun = (one: string) => /^[数据库保存会话東京あいう한국어]+$/u.test(one)
const bare = (one: string) =>
  one
    .normalize('NFD')
    .replaceAll(/\p{Mn}/gu, '')
    .normalize('NFC')
    .toLowerCase()
    .replaceAll('ς', 'σ')

/** Whether a text of these pieces holds what is asked, by what the words mean rather than how they are cut. */
function holds(pieces: readonly string[], asked: string): boolean {
  return pieces.some((one) => (isRun(asked) ? one.includes(asked) : bare(one) === bare(asked)))
}

it('any text is found by each of its words and pairs, and no other text is', () => {
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 6 }), fc.nat(), fc.nat(), (all, a, b) => {
      const from = all[a % all.length]
      const whole = from?.pieces[b % from.pieces.length] ?? ''
      const characters = [...whole]
      const at = b % Math.max(1, characters.length - 1)
      const pair = isRun(whole) ? characters.slice(at, at + 2).join('') : whole
      for (const asked of [whole, pair]) {
        const expected = all.flatMap(({ pieces }, at) => (holds(pieces, asked) ? [at] : []))
        expect(
          found(
            all.map((one) => one.text),
            asked,
          ),
        ).toEqual(expected)
        expect(expected).toContain(a % all.length)
      }
    }),
  )
})
