import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_HEAD_BYTES, parseSkill } from '../src/skill-text.ts'

const parse = (text: string) => parseSkill(Buffer.from(text))
const problemOf = (text: string) => {
  const parsed = parse(text)
  return 'problem' in parsed ? parsed.problem : undefined
}
const front = (yaml: string) => `---\n${yaml}\n---\nbody\n`

describe('a skill', () => {
  it('has a name, a description and who may load it in front of its body', () => {
    const yaml = 'name: pdf-forms\ndescription: 填写表格\nwhenToUse: for forms\nlicense: MIT'
    expect(parse(front(yaml))).toEqual({
      head: {
        name: 'pdf-forms',
        description: '填写表格',
        whenToUse: 'for forms',
        forModel: true,
        forPeople: true,
      },
      body: 'body\n',
      bodyLine: 7,
    })
    const flags = 'name: a\ndescription: b\ndisable-model-invocation: true\nuser-invocable: false'
    expect(parse(front(flags))).toMatchObject({ head: { forModel: false, forPeople: false } })
  })

  it.each([
    ['with a BOM and CRLF', '\uFEFF---\r\nname: a\r\ndescription: b\r\n---\r\nbody\r\n'],
    ['with mixed line ends', '---\r\nname: a\ndescription: b\r\n--- \nbody\n'],
    ['without a body', '---\nname: a\ndescription: b\n---'],
    ['with a folded description', '---\nname: a\ndescription: >\n  b\n  c\n---\n'],
    ['with dashes in its body', '---\nname: a\ndescription: b\n---\n---\nname: z\n---\n'],
  ])('may be written %s', (_, text) => {
    expect(parse(text)).toMatchObject({ head: { name: 'a' } })
  })

  it.each([
    ['no frontmatter', '# Title\n', /does not begin with a frontmatter/],
    ['text in front of it', '\n---\nname: a\n---\n', /does not begin/],
    ['no end of it', '---\nname: a\ndescription: b\n', /does not begin/],
    ['no name', front('description: b'), /name: /],
    ['no description', front('name: a'), /description: /],
    ['an empty description', front('name: a\ndescription: "  "'), /description: /],
    ['a name that is none', front('name: Has Spaces\ndescription: b'), /lower-case words/],
    ['a path as a name', front('name: ../../x\ndescription: b'), /lower-case words/],
    ['a number as a name', front('name: 12\ndescription: b'), /name: /],
    ['a list', front('- name: a'), /not valid/],
    ['nothing', '---\n---\n', /not valid/],
    ['a flag that is no flag', front('name: a\ndescription: b\nuser-invocable: maybe'), /user-inv/],
    ['a key twice', front('name: a\nname: b\ndescription: c'), /unique/],
    ['a tag', front('name: a\ndescription: !!js/function "x"'), /tag/i],
    ['a colon that breaks it', front('name: a\ndescription: Use it: always'), /not valid/],
    ['several documents', front('name: a\ndescription: b\n...\nname: c'), /not valid/],
    ['an alias', front('name: a\ndescription: &d b\nx: *d'), /alias/i],
    ['bytes that are no text', '\u0001\u0002\u0003'.repeat(50), /not a text/],
  ])('with %s is told what is wrong', (_, text, message) => {
    expect(problemOf(text)).toMatch(message)
  })

  it('cannot hurt who reads it', () => {
    const bomb = [
      'a: &a [x]',
      ...'bcdefghij'.split('').map((key, at) => {
        const before = 'abcdefghij'[at]
        return `${key}: &${key} [${Array(9).fill(`*${before}`).join(',')}]`
      }),
    ].join('\n')
    expect(problemOf(front(`name: a\ndescription: b\n${bomb}`))).toMatch(/alias/i)
    expect(problemOf(front(`name: a\ndescription: b\nx: ${'['.repeat(8_000)}`))).toBeDefined()
    expect(problemOf(front(`name: a\ndescription: ${'b'.repeat(MAX_HEAD_BYTES)}`))).toBeDefined()
    const proto = parse(front('name: a\ndescription: b\n__proto__: { forPeople: no, x: 1 }'))
    expect(proto).toMatchObject({ head: { forPeople: true } })
    expect(Object.getPrototypeOf('head' in proto ? proto.head : undefined)).toBe(Object.prototype)
  })

  it('is parsed or has a problem, whatever it is', () => {
    const piece = fc.constantFrom(
      '---\n',
      'name: a\n',
      'description: b\n',
      '\t',
      '&x ',
      '*x',
      '{',
      ': ',
    )
    const text = fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join(''))
    fc.assert(
      fc.property(fc.oneof(text, fc.string({ unit: 'binary' })), (any) => {
        const parsed = parse(any)
        return 'problem' in parsed ? parsed.problem.length <= 250 : parsed.head.name === 'a'
      }),
    )
  })
})
