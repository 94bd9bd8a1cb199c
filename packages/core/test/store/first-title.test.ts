import { firstTitle } from '@cordage/core/store'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'

it.each([
  ['mend it', 'mend it'],
  ['  mend\n\tthe  build ', 'mend the build'],
  [
    'Please look at the parser and tell me why it drops the last token of each line',
    'Please look at the parser and tell me why it drops the last…',
  ],
  [
    'Please look at the parser and say why it drops the lasting token',
    'Please look at the parser and say why it drops the lasting…',
  ],
  ['x'.repeat(90), `${'x'.repeat(59)}…`],
  [
    '请检查解析器为什么丢掉每一行的最后一个词并说明原因'.repeat(4),
    `${'请检查解析器为什么丢掉每一行的最后一个词并说明原因'.repeat(3).slice(0, 59)}…`,
  ],
  ['𠮷'.repeat(61), `${'𠮷'.repeat(59)}…`],
])('is the first words, whole: %j', (text, title) => {
  expect(firstTitle(text)).toBe(title)
})

it.each([
  ['```ts\nconst a = 1\n```\nWhat does this do?', 'What does this do?'],
  ['<file-1a2b path="a.ts">\nconst a = 1\n</file-1a2b>\nWhat is it?', 'What is it?'],
  ['```\nonly code\n```', '``` only code ```'],
])('leaves out what was pasted, if words are left: %j', (text, title) => {
  expect(firstTitle(text)).toBe(title)
})

it.each([
  'use sk-ant-api03-Zm9vYmFyYmF6cXV4 for it',
  'my password: hunter2!',
  'the passphrase is hunter2, says he',
  'token=hunter2! is it',
  '密码是 hunter2! 请登录',
  'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
])('has no secret: %j', (text) => {
  expect(firstTitle(text)).not.toMatch(/hunter2|Zm9v|16C7/)
  expect(firstTitle(text)).toContain('…')
})

it('is one well-formed line of at most 60 characters, whatever is typed', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
      const title = firstTitle(text)
      expect([...title].length).toBeLessThanOrEqual(60)
      expect(title).not.toMatch(/[\n\r\p{Cc}]/u)
      expect(title.isWellFormed()).toBe(true)
    }),
  )
})

it('takes no longer for a text of 4 MB that opens and never closes', () => {
  expect(firstTitle('<a>\n```\n'.repeat(500_000)).length).toBeLessThanOrEqual(60)
})
