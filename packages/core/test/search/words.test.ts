import { matchOf, termsOf, wordsIn } from '@cordage/core/search'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'

const word = fc.constantFrom(...'alpha Delta ÉTÉ naïve x1 ёж ὁδός 🎉 数据库 東京 한국어'.split(' '))
const separator = fc.constantFrom(' ', ', ', '\n', '。', ' - ', '/', '"', '\u3000')
const text = fc
  .array(fc.tuple(word, separator), { minLength: 1, maxLength: 8 })
  .map((parts) => parts.flat().join(''))

const bare = (one: string) =>
  one
    .normalize('NFD')
    .replaceAll(/\p{Mn}/gu, '')
    .normalize('NFC')
    .toLowerCase()
    .replaceAll('ς', 'σ')

it('each word stands where it says', () => {
  fc.assert(
    fc.property(text, (text) => {
      for (const { at, end, text: word } of wordsIn(text)) {
        expect(bare(text.slice(at, end))).toBe(bare(word))
      }
    }),
  )
})

it('what is asked holds all of its terms, or any of them', () => {
  const terms = termsOf('parseConfig "a phrase" 数据库 begin*')
  expect(matchOf(terms)).toBe(
    '(words : "parse config" OR "parseconfig") AND words : "a phrase" AND ' +
      'words : "数据 据库" AND "begin"*',
  )
  expect(matchOf(terms, 'OR').split(' OR ')).toHaveLength(5)
})
