import { spawnSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile as write } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  sessionChild,
  sessionDirectory,
  sessionTitle,
  turnEnd,
  turnStart,
  type Fact,
} from '@cordage/core/session'
import * as fc from 'fast-check'
import { Marked } from 'marked'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { MemoryStore } from '../../../stores/memory/src/memory-store.ts'
import type { ExportedSession } from '../src/export/exported-session.ts'
import { exportsAtHome } from '../src/export/exports-at-home.ts'
import { formatOf, textOf } from '../src/export/formats.ts'
import { foreignMarkdown } from '../src/export/markdown-text.ts'
import { writeFile } from '../src/export/output.ts'
import { visibleText } from '../src/export/visible-text.ts'
import {
  answered,
  called,
  exported,
  image,
  keep,
  PNG,
  PNG_HASH,
  returned,
  said,
  START,
  text,
  wholeTurn,
} from './export-fixture.ts'

const HOSTILE =
  '</script></style></pre><script>alert(1)</script><img src=x onerror=alert(1)>' +
  `"'--><svg/onload=alert(1)> \u001B[31mred\u001B[0m \u001B]0;t\u0007 \u202Egnp.exe\u202C \0 \uD800` +
  ' [x](javascript:alert(1)) ![p](http://tracker.example/p.png) `<b>` &lt;i&gt; <pre> <x'

async function pageOf(hostile: string) {
  const store = new MemoryStore()
  await keep(store, wholeTurn(hostile))
  return exported(store, 'html')
}

/** Tags and their attributes as a browser would read them. */
function tagsOf(page: string): string[] {
  const body = page.slice(page.indexOf('<body>'))
  return [...new Set([...body.matchAll(/<\/?([a-z][^\s>]*)[^>]*>/gi)].map(([, name = '']) => name))]
}

const OURS =
  'header div h1 p span dl dt dd nav h2 h3 ol li a small main section time details summary b code' +
  ' pre img footer body html td th tr table tbody thead ul em strong'

describe('an exported page', () => {
  it('holds no tag, attribute or address that a text brought', async () => {
    const { text: page } = await pageOf(HOSTILE)

    expect(tagsOf(page).filter((tag) => !OURS.split(' ').includes(tag))).toEqual([])
    expect(page.match(/<[^>]*\son\w+\s*=/gi)).toBeNull()
    const addresses = [...page.matchAll(/\b(?:src|href)\s*=\s*"?([^"\s>]*)/g)]
      .map(([, address = '']) => address.slice(0, 12))
      .filter((address) => !address.startsWith('#'))
    // What stands escaped in a text begins after &quot; or is no attribute of a tag.
    expect(new Set(addresses)).toEqual(new Set(['data:image/p', 'x']))
    expect(page).not.toMatch(/<img src=x/)
    expect(page.match(/<script/g)).toBeNull()
  })

  it('shows control characters and marks of direction, and drops colours of terminals', async () => {
    const { text: page } = await pageOf(HOSTILE)
    // oxlint-disable-next-line no-control-regex
    expect(page).not.toMatch(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202A-\u202E]/)
    expect(page).toContain('[U+202E]gnp.exe')
    expect(page).not.toContain('␛[31m')
    expect(page.isWellFormed()).toBe(true)
  })

  it('lets a browser load and run nothing', async () => {
    const { text: page } = await pageOf('words')
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1]
    expect(policy).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]+'; img-src data:; base-uri 'none'; form-action 'none'$/,
    )
    expect(page).not.toMatch(/\sstyle=|<link|@import|url\(/)
  })

  it.each(['plain words', HOSTILE])('has every part of a turn in its place: %#', async (words) => {
    const { text: page } = await pageOf(words)
    expect(page).toMatch(/<a href="#turn-1">Asked/)
    expect(page).toMatch(/<section class="turn" id="turn-1">/)
    expect(page).toMatch(/<details class="fold"><summary>Reasoning, \d+ words<\/summary>/)
    expect(page).toMatch(/<details class="call failed"><summary><b>bash<\/b>/)
    expect(page).toMatch(/<span class="removed">-b/)
    expect(page).toMatch(/<span class="added">\+c<\/span>/)
    expect(page).toMatch(/<details class="call open">/)
    expect(page).toMatch(/Unknown: third-party\/event/)
    expect(page).toMatch(/12,345 tokens in, 10,000 of them cached, 678 out · \$0\.0421/)
    expect(page).toMatch(/<h3>Heading<\/h3>/)
  })

  it('names a turn by what a person typed, not by what was put beside it', async () => {
    const store = new MemoryStore()
    const notice = { kind: 'plugin', row: 'r', form: 'notice' } as const
    const start = turnStart({ turn: 1 })
    await keep(store, [
      start,
      said([text('beside')], notice),
      said([text('typed')]),
      said([text('more')]),
    ])
    const { text: page } = await exported(store, 'html')
    expect(page).toMatch(/<a href="#turn-1">typed<small>0 steps, 0 calls · \$0\.0000<\/small>/)
  })

  it('holds the bytes of a picture once, and says which is not there', async () => {
    const store = new MemoryStore()
    const gone = { ...image, blob: { ...image.blob, hash: 'f'.repeat(64) } }
    const document = { ...image, blob: { ...image.blob, mediaType: 'image/svg+xml' } }
    await keep(store, [said([image, image, gone, document])])

    const { text: page, notices } = await exported(store, 'html')

    expect(page.split(PNG.toString('base64'))).toHaveLength(2)
    expect(page).toContain(`<a href="#image-${PNG_HASH}">The image from above</a>`)
    expect(page).toContain('An image that is not there any more: image/png')
    expect(page).toContain('A file: image/svg+xml')
    expect(notices).toEqual([expect.stringContaining('f'.repeat(64))])
  })

  it('has the sessions that it started behind it, with anchors of their own', async () => {
    const store = new MemoryStore()
    const child = (id: string, parent: string) => {
      return { id, depth: 1, parent: { id: parent, kind: 'spawn' } } as const
    }
    await keep(store, wholeTurn('parent words'))
    await keep(store, wholeTurn('child words'), child('kid', 'main'))
    await keep(store, wholeTurn('grandchild words'), child('grandkid', 'kid'))
    const parent = { id: 'main', kind: 'fork', seq: 0 } as const
    await keep(store, wholeTurn('forked words'), { id: 'forked', depth: 1, parent })
    await keep(store, wholeTurn('other words'), {
      id: 'other',
      parent: { id: 'main', kind: 'fork' },
    })

    const { text: page } = await exported(store, 'html')

    expect(page).toContain('<a href="#session-kid">')
    const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)
    expect(ids.filter((id, at) => ids.indexOf(id) < at && !id?.startsWith('image-'))).toEqual([])
    expect(ids).toContain('turn-kid-1')
    expect(ids).toContain('turn-grandkid-1')
    expect(ids).toContain('turn-forked-1')
    expect(page).not.toContain('other words')
  })

  it('cannot be left by any text', async () => {
    const bits = fc.constantFrom('<', '>', '"', "'", '&', '`', '```', '\n', '[', '](', ')', '<pre>')
    const texts = fc.array(
      fc.oneof(bits, fc.string({ unit: 'binary' }), fc.constant('<svg/onload=x>')),
      {
        maxLength: 12,
      },
    )
    await fc.assert(
      fc.asyncProperty(texts, async (pieces) => {
        const { text: page } = await pageOf(pieces.join(''))
        expect(tagsOf(page).filter((tag) => !OURS.split(' ').concat(RICH).includes(tag))).toEqual(
          [],
        )
        expect(page.match(/<script|<svg|<iframe|<[^>]*\son\w+\s*=/gi)).toBeNull()
      }),
    )
  })
})

const RICH = ['h4', 'h5', 'h6', 'hr', 'br', 'blockquote', 'del', 'input']

describe('exported Markdown', () => {
  it('tells calls with their results, in the order of the calls', async () => {
    const store = new MemoryStore()
    await keep(store, [
      turnStart({ turn: 1 }),
      said([text('do it')]),
      answered([text('I do.')]),
      called('1', 'first', { a: 1 }),
      called('2', 'second', {}),
      // What these calls do to the session does not part them from their results.
      sessionChild({ session: 'kid', kind: 'fork', description: 'a look', turn: 1, callId: '1' }),
      sessionDirectory({ cwd: '/elsewhere' }),
      returned('2', 'second', 'two ``` fences'),
      returned('1', 'first', 'one', { isError: true }),
      turnEnd({ turn: 1, reason: 'completed' }),
    ])

    const { text: page } = await exported(store, 'markdown')

    const [, first = '', second = ''] = page.split('**→ ')
    expect(first).toMatch(
      /^first\*\* · 1\.2s · failed\n\n```json\n\{\n {2}"a": 1\n\}\n```\n\n```\none\n```/,
    )
    expect(second).toContain('````\ntwo ``` fences\n````')
    expect(page).toContain('> do it')
    expect(page).toContain('*A child works on it: a look (kid)*')
    expect(page).toContain('*Turn 1: completed · 12,345 in, 678 out · $0.0421')
  })

  it('gets no heading, HTML or picture from a text, and no code block that stays open', () => {
    const reader = new Marked()
    const bits = [
      '# H',
      '\n',
      '\n\n',
      '===',
      '---',
      '```',
      '  ```',
      '~~~',
      '    ```',
      '- ',
      '1. ',
      '> ',
      '<b>',
      '<script>',
      '</p>',
      '<!--',
      '<?x',
      '![a](b)',
      '`',
      '\\',
      ' ',
      'word',
      '\t',
      '|',
    ]
    const texts = fc.array(fc.constantFrom(...bits), { maxLength: 30 })
    fc.assert(
      fc.property(texts, (pieces) => {
        const shown = foreignMarkdown(pieces.join(''))
        const found: string[] = []
        const tokens = reader.lexer(`before\n\n${shown}\n\n## Ours\n`)
        reader.walkTokens(tokens, ({ type, raw }) => {
          if (['html', 'image', 'heading'].includes(type)) found.push(raw.trim())
        })
        expect(found).toEqual(['## Ours'])
      }),
    )
  })
})

describe('exported lines', () => {
  it('are the header, each fact as it is, each blob once behind the first that names it, the end', async () => {
    const store = new MemoryStore()
    await keep(store, [
      said([text('a \uD800 \0')]),
      said([image]),
      said([image]),
      { type: 'x/y', v: 3, data: { deep: [{ hash: 'e'.repeat(64) }] } },
    ])

    const { text: lines, notices } = await exported(store, 'jsonl')

    const records = lines
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object)
    expect(records).toMatchObject([
      { cordage: 'session', format: 1, header: { id: 'main', createdAt: START } },
      { seq: 0, time: START, data: { message: { content: [{ text: 'a \uD800 \0' }] } } },
      { seq: 1 },
      { blob: PNG_HASH, base64: PNG.toString('base64') },
      { seq: 2 },
      { seq: 3, v: 3 },
      { end: { facts: 4, blobs: 1 } },
    ])
    expect(notices).toEqual([expect.stringContaining('e'.repeat(64))])
  })
})

describe('an export of a long session', () => {
  const FACTS = 20_000

  /** Counts how far it has been read, each time from the beginning. */
  function longSession(read: { at: number }): ExportedSession {
    return {
      header: { format: 1, id: 'long', createdAt: START, project: '/p', depth: 0 },
      notices: [],
      async *read() {
        for (let seq = 0; seq < FACTS; seq++) {
          read.at = seq
          const turn = 1 + Math.floor(seq / 4)
          const fact = [turnStart({ turn }), said([text(`said-${seq}.`)]), answered([text('yes')])]
          const ended = turnEnd({ turn, reason: 'completed' })
          yield { ...(fact[seq % 4] ?? ended), seq, time: START + seq } as Fact
        }
      },
      blob: async () => undefined,
      async *children() {},
    }
  }

  it.each(['jsonl', 'markdown', 'html'] as const)(
    'as %s is written while it is read',
    async (format) => {
      const read = { at: 0 }
      let seen = 0
      let furthest = 0
      for await (const piece of textOf(longSession(read), format)) {
        const [said] = /said-(\d+)\./.exec(piece) ?? []
        // The table of contents is made of what the first reading kept of each turn.
        if (said === undefined || /^(?:<nav>|<!doctype|# )/.test(piece)) continue
        seen += 1
        furthest = Math.max(furthest, Math.abs(read.at - Number(said.slice(5, -1))))
      }
      expect(seen).toBe(FACTS / 4)
      expect(furthest).toBeLessThan(4)
    },
  )
})

describe('a file that is exported', () => {
  let folder = ''
  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'cordage-export-'))))
  afterEach(() => rm(folder, { recursive: true, force: true }))
  async function* pieces(...texts: readonly string[]) {
    yield* texts
  }

  it('is readable by its owner alone', async () => {
    const path = join(folder, 'a.html')
    await writeFile(path, pieces('one ', 'two'), false)
    expect(await readFile(path, 'utf8')).toBe('one two')
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  it('takes the place of no other one, nor of what a link points to, unless it is forced', async () => {
    const path = join(folder, 'a.html')
    const link = join(folder, 'link.html')
    await write(path, 'precious')
    await symlink(path, link)
    for (const name of [path, link]) {
      await expect(writeFile(name, pieces('new'), false)).rejects.toThrow('is there already')
    }
    await writeFile(link, pieces('new'), true)
    expect([await readFile(path, 'utf8'), await readFile(link, 'utf8')]).toEqual([
      'precious',
      'new',
    ])
    expect((await stat(link)).mode & 0o777).toBe(0o600)
  })

  it.each([true, false])('leaves nothing of itself when it fails (forced: %s)', async (force) => {
    const path = join(folder, 'a.html')
    if (force) await write(path, 'precious')
    async function* failing() {
      yield 'half'
      throw new TypeError('the log is damaged')
    }
    await expect(writeFile(path, failing(), force)).rejects.toThrow('the log is damaged')
    expect(await readdir(folder)).toEqual(force ? ['a.html'] : [])
    if (force) expect(await readFile(path, 'utf8')).toBe('precious')
  })

  it.each([true, false])('has its name only when it is whole (forced: %s)', async (force) => {
    const path = join(folder, 'a.html')
    if (force) await write(path, 'precious')
    const seen: string[][] = []
    async function* watched() {
      seen.push(await readdir(folder))
      yield 'whole'
    }
    await writeFile(path, watched(), force)
    const draft = `a.html.${process.pid}.tmp`
    expect(seen).toEqual([force ? ['a.html', draft] : [draft]])
    expect(await readdir(folder)).toEqual(['a.html'])
    expect(await readFile(path, 'utf8')).toBe('whole')
  })

  it('takes no name that somebody took meanwhile', async () => {
    const path = join(folder, 'a.html')
    async function* late() {
      await write(path, 'precious')
      yield 'new'
    }
    await expect(writeFile(path, late(), false)).rejects.toThrow('is there already')
    expect(await readdir(folder)).toEqual(['a.html'])
    expect(await readFile(path, 'utf8')).toBe('precious')
  })

  it('takes away what one that died left of it, and nothing of one that lives', async () => {
    const path = join(folder, 'a.html')
    const { pid: dead = 0 } = spawnSync(process.execPath, ['--version'])
    const others = [`a.html.${process.ppid}.tmp`, `b.html.${dead}.tmp`, 'a.html.tmp']
    const left = [`a.html.${dead}.tmp`, `a.html.${process.pid}.tmp`]
    for (const name of [...others, ...left]) await write(join(folder, name), 'half')
    await writeFile(path, pieces('whole'), false)
    expect((await readdir(folder)).sort()).toEqual(['a.html', ...others].sort())
  })

  it.each(['jsonl', 'markdown', 'html'] as const)(
    'is known by its session from its beginning on (%s), and not by what was said',
    async (format) => {
      const store = new MemoryStore()
      const words = '<footer>Exported from the session other of Cordage.\n\n| Session | other |\n'
      await keep(store, [sessionTitle({ title: words, by: 'user' }), said([text(words)])])
      const whole = (await exported(store, format)).text
      const name = { jsonl: 'a.jsonl', markdown: 'a.md', html: 'a.html' }[format]
      await write(join(folder, `${name}.77.tmp`), whole.slice(0, -whole.length / 10))
      await write(join(folder, name), whole)
      const { found } = exportsAtHome(folder, 'main')
      expect(found.sort()).toEqual([join(folder, name), join(folder, `${name}.77.tmp`)])
      expect(exportsAtHome(folder, 'other')).toEqual({ found: [], unreadable: [] })
    },
  )

  it('says why it cannot be written', async () => {
    const path = join(folder, 'none/a.html')
    await expect(writeFile(path, pieces('x'), false)).rejects.toThrow('no such file or directory')
  })

  it.each([
    ['a.jsonl', 'jsonl'],
    ['a.b.MD', 'markdown'],
    ['/x/a.html', 'html'],
    ['html', undefined],
    ['a.txt', undefined],
  ])('has the format that its name says: %s', (name, format) => {
    expect(formatOf(name)).toBe(format)
  })
})

describe('visible text', () => {
  it('keeps words of all scripts, line ends and tabs as they are', () => {
    const words = 'Grüße\t日本語\nעברית 👩‍👩‍👧 e\u0301'
    expect(visibleText(words.replace('\n', '\r\n'))).toBe(words)
  })
})
