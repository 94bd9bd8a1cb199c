import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { importsIn } from '../src/imports-in.ts'
import { openInstructed, type Instructed, type InstructedOptions } from './project.ts'

let project: Instructed | undefined
afterEach(async () => {
  await project?.[Symbol.asyncDispose]()
  project = undefined
})

async function told(options: InstructedOptions, prepare?: (folder: string) => Promise<void>) {
  project = await openInstructed(options)
  await prepare?.(project.folder)
  await project.turn()
  return project.instructed().at(-1)?.[1] ?? ''
}

describe('an import', () => {
  it('brings a file of the project in front of the one that names it, relative to that', async () => {
    const text = await told({
      files: {
        'project/AGENTS.md': 'The root. See @docs/rules.md.',
        'project/docs/rules.md': 'Rules, and @./more/规则.md，都要看',
        'project/docs/more/规则.md': '深处的规则',
      },
    })
    expect(text).toMatch(/深处的规则[\s\S]*Rules, and[\s\S]*The root/)
    expect(text).toContain('path="docs/more/规则.md"')
  })

  it('is read once, also in a circle, and not for ever', async () => {
    const chain = Array.from({ length: 8 }, (_, at) => {
      return [`project/c${at}.md`, `link ${at} @c${at + 1}.md`] as const
    })
    const text = await told({
      files: {
        'project/AGENTS.md': 'root @a.md @a.md @c0.md',
        'project/a.md': 'one @b.md',
        'project/b.md': 'two @a.md @AGENTS.md',
        ...Object.fromEntries(chain),
      },
    })
    expect(text.match(/^(one|two|root) /gm)?.sort()).toEqual(['one ', 'root ', 'two '])
    expect(text.match(/^link \d/gm)).toHaveLength(5)
    expect(text).toContain('Not imported: "c5.md" (too deep)')
  })

  it('stays within the project, whatever it names and wherever it leads', async () => {
    const files = {
      'secret.md': 'not for you',
      '.ssh/id': 'a key',
      'project/AGENTS.md':
        '@../secret.md @~/secret.md @/etc/passwd @out.md @gone.md @dir.d @types/node @ann',
    }
    const text = await told({ files }, async (folder) => {
      await symlink('../secret.md', join(folder, 'project/out.md'))
      await mkdir(join(folder, 'project/dir.d'))
    })
    expect(text).not.toMatch(/not for you|root:/)
    const outside = 'outside of the project'
    expect(text.split('\n').at(-1)).toBe(
      `Not imported: "../secret.md" (${outside}), "~/secret.md" (${outside}), ` +
        `"/etc/passwd" (${outside}), "out.md" (${outside}), "gone.md" (missing), ` +
        `"dir.d" (not a text).`,
    )
  })

  it('does not bring what no tool may read', async () => {
    const files = { 'project/AGENTS.md': 'see @.ssh/id.md', 'project/.ssh/id.md': 'a key' }
    const text = await told({ files })
    expect(text).not.toContain('a key')
    expect(text).toContain('Not imported: ".ssh/id.md"')
  })

  it('of a person brings nothing', async () => {
    const files = { 'home/AGENTS.md': 'mine @style.md', 'home/style.md': 'not read' }
    expect(await told({ files })).not.toContain('not read')
  })

  it('counts for the budget, and is dropped before the file that names it', async () => {
    const files = { 'project/AGENTS.md': 'root @big.md', 'project/big.md': 'x'.repeat(500) }
    const text = await told({ files, config: { maxBytes: 100 } })
    expect(text).toContain('root @big.md')
    expect(text).toContain('Left out for want of room: "big.md"')
  })

  it('stops at so many files as nobody needs', async () => {
    const names = Array.from({ length: 70 }, (_, at) => `f${at}.md`)
    const files = Object.fromEntries(names.map((name) => [`project/${name}`, `file ${name}`]))
    const text = await told({
      files: { ...files, 'project/AGENTS.md': names.map((name) => `@${name}`).join('\n') },
    })
    expect(text.match(/^file f/gm)).toHaveLength(63)
    expect(text).toContain('"f63.md" (too many)')
  })
})

describe('what a text imports', () => {
  it.each([
    ['at the start of a line and after a space', '@a.md and @b/c', ['a.md', 'b/c']],
    [
      'without the stop behind it',
      'See @a.md, (@b.md) 和@c.md 「@d.md」。',
      ['a.md', 'b.md', 'd.md'],
    ],
    ['not in an address', 'mail ann@example.com', []],
    ['not what looks like a name', '@ann @all', []],
    ['not in code', 'run `@a.md` or ``x ` @b.md`` @c.md', ['c.md']],
    ['not in a fence', '```\n@a.md\n~~~\n@b.md\n```\n@c.md', ['c.md']],
    ['not in a longer fence', '````md\n```\n@a.md\n```\n@b.md\n````\n@c.md', ['c.md']],
    ['not in a fence that stays open', '~~~\n@a.md', []],
    ['not in an indented block', 'x\n\n    @a.md\n    @b.md\n\n@c.md', ['c.md']],
    ['in a list', '- x\n    - @a.md', ['a.md']],
    ['with other line ends', '```\r\n@a.md\r\n```\r\n@b.md\r', ['b.md']],
  ])('is found %s', (_, text, found) => {
    expect(importsIn(text)).toEqual(found)
  })

  it('is found in any text in time', () => {
    const piece = fc.constantFrom('@', '`', '```', '~~~', '\n', '    ', 'a.md', '/', '.', ' ', '（')
    const any = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(''))
    fc.assert(
      fc.property(any, (text) => importsIn(text).every((path) => text.includes(`@${path}`))),
    )
    expect(importsIn('`'.repeat(65_536))).toEqual([])
    expect(importsIn('@'.repeat(65_536))).toEqual([])
  })
})
