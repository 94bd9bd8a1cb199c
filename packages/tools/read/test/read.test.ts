import { openToolBench, type ToolBench } from '@cordage/testkit'
import { execFileSync } from 'node:child_process'
import { chmod, mkdir, open, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import read from '../src/index.ts'
import { makePdf } from './pdf-fixture.ts'

let bench: ToolBench
const at = (name: string) => join(bench.project, name)
const show = (file_path: string, more: object = {}) => bench.call('read', { file_path, ...more })
const bodyOf = (answer: { text: string }) => answer.text.slice(answer.text.indexOf('\n') + 1)

beforeEach(async () => {
  bench = await openToolBench({ rows: { read } })
})
afterEach(() => bench[Symbol.asyncDispose]())

describe('read', () => {
  it('adds one tool, which is gone when the row is', async () => {
    expect(bench.offered()).toEqual(['read'])
    await bench.row('read').dispose()
    expect(bench.offered()).toEqual([])
  })

  it('numbers lines and says how many there are', async () => {
    await writeFile(at('名.txt'), '一\n二\n三\n')
    expect((await show('名.txt')).text).toBe(`${at('名.txt')}, lines 1-3 of 3\n1\t一\n2\t二\n3\t三`)
    expect((await show('名.txt', { offset: 2, limit: 1 })).text).toBe(
      `${at('名.txt')}, lines 2-2 of 3; go on with offset 3\n2\t二`,
    )
  })

  it('shows CRLF, BOM and UTF-16 as plain text', async () => {
    await writeFile(at('crlf.txt'), '\uFEFFa\r\nb\r\n')
    await writeFile(at('utf16.txt'), Buffer.from('\uFEFF你好\r\nb', 'utf16le'))
    expect(bodyOf(await show('crlf.txt'))).toBe('1\ta\n2\tb')
    expect(bodyOf(await show('utf16.txt'))).toBe('1\t你好\n2\tb')
  })

  it('escapes a name that could forge a line', async () => {
    await writeFile(at('a\nb, lines 1-1 of 1'), 'x')
    expect((await show('a\nb, lines 1-1 of 1')).text.split('\n')).toHaveLength(2)
  })

  it('cuts a long line and a long window, and says so', async () => {
    await writeFile(at('long.txt'), `${'x'.repeat(5_000)}\nshort\n`)
    const long = await show('long.txt')
    expect(long.text).toMatch(/lines 1-2 of 2; only the beginning of line 1\n/)
    expect(long.value).toMatchObject({ cutLines: [1] })
    await writeFile(at('many.txt'), 'y'.repeat(99).concat('\n').repeat(1_000))
    const many = await show('many.txt')
    const shown = many.text.split('\n').length - 1
    expect(many.text).toContain(`lines 1-${shown} of 1000; go on with offset ${shown + 1}`)
    expect(many.text.length).toBeLessThan(30_000)
  })

  it('says that a file is empty, and that an offset is past the end', async () => {
    await writeFile(at('empty'), '')
    await writeFile(at('one'), 'x')
    expect((await show('empty')).text).toBe(`${at('empty')} is empty`)
    const past = await show('one', { offset: 7 })
    expect(past.code).toBe('READ_PAST_END')
    expect(past.text).toContain('has only 1 line,')
  })

  it('finds a window in the middle of a large file without reading it whole', async () => {
    const lines = Array.from({ length: 400_000 }, (_, index) => `line ${index + 1} é`)
    await writeFile(at('large.txt'), lines.join('\r\n'))
    const answer = await show('large.txt', { offset: 300_001, limit: 2 })
    expect(answer.text).toMatch(/lines 300001-300002 of 400000; go on with offset 300003\n/)
    expect(bodyOf(answer)).toBe('300001\tline 300001 é\n300002\tline 300002 é')
    expect((await show('large.txt', { offset: 400_000 })).text).toMatch(/400000\tline 400000 é$/)
    expect((await show('large.txt', { offset: 400_001 })).code).toBe('READ_PAST_END')
  })

  it('shows the head of a sparse gigabyte at once, and refuses one without text', async () => {
    for (const [name, head] of [
      ['text', 'a\nb\n'.repeat(5_000)],
      ['zero', ''],
    ] as const) {
      const file = await open(at(name), 'w')
      await file.write(head)
      await file.truncate(1024 ** 3)
      await file.close()
    }
    const before = process.memoryUsage().rss
    expect((await show('text', { limit: 2 })).text).toMatch(/lines 1-2 of many more.*\n1\ta\n2\tb$/)
    expect((await show('zero')).code).toBe('READ_BINARY')
    expect((process.memoryUsage().rss - before) / 1e6).toBeLessThan(200)
  })

  it('gives an image as an image, whatever its name', async () => {
    const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(64, 1)])
    await writeFile(at('picture.txt'), png)
    const answer = await show('picture.txt')
    const [, image] = answer.content
    expect(image).toMatchObject({ type: 'image', blob: { bytes: 72, width: 0x01010101 } })
    const { hash } = (answer.value as { blob: { hash: string } }).blob
    expect(Buffer.compare(await bench.session.getBlob(hash), png)).toBe(0)
  })

  it('gives the text of PDF pages', async () => {
    await writeFile(at('a.pdf'), makePdf(['Hello page one', 'Second', 'Third']))
    expect((await show('a.pdf', { offset: 2, limit: 1 })).text).toBe(
      `${at('a.pdf')}, pages 2-2 of 3; go on with offset 3\n[page 2]\nSecond`,
    )
    expect((await show('a.pdf')).text).toContain('[page 1]\nHello page one\n[page 2]\nSecond')
    expect((await show('a.pdf', { offset: 9 })).code).toBe('READ_PAST_END')
    await writeFile(at('broken.pdf'), '%PDF-1.4\nnot really')
    expect((await show('broken.pdf')).code).toBe('READ_PDF_FAILED')
  })

  it('refuses binaries, directories, pipes and what is not there', async () => {
    await writeFile(at('a.bin'), Buffer.from(Array.from({ length: 999 }, (_, at) => at % 256)))
    await mkdir(at('dir'))
    execFileSync('mkfifo', [at('fifo')])
    const codes = []
    for (const name of ['a.bin', 'dir', 'fifo', 'none']) codes.push((await show(name)).code)
    expect(codes).toEqual(['READ_BINARY', 'READ_DIRECTORY', 'PATH_INVALID', 'FILE_NOT_FOUND'])
  })

  it('says that a file may not be read', async () => {
    await writeFile(at('secret'), 'x')
    await chmod(at('secret'), 0)
    // The superuser may read everything.
    const code = process.getuid?.() === 0 ? undefined : 'FILE_DENIED'
    expect((await show('secret')).code).toBe(code)
    await symlink('/proc/self/environ', at('link'))
    expect((await show('link')).code).toBe('TOOL_DENIED')
  })

  it('reads files of /proc, which have no size', async () => {
    expect((await show('/proc/version')).text).toContain('1\tLinux version')
  })
})
