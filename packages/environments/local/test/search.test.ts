import { spawnSync } from 'node:child_process'
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { GlobQuery, GrepQuery } from '@cordage/core/environment'
import { needs } from '../../../../test/fixture/needs.ts'
import { createFileSystem } from '../src/file-system.ts'
import { codeOf, makeDirectory, never } from './fixture.ts'

const fs = createFileSystem(never)

async function makeTree(files: Record<string, string>): Promise<string> {
  const dir = await makeDirectory()
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(dir, name)), { recursive: true })
    await writeFile(join(dir, name), content)
  }
  return dir
}

const resultSchema = z.object({
  items: z.array(z.object({ path: z.string() })),
  incomplete: z.array(z.string()),
})

async function glob(dir: string, query: Partial<GlobQuery>) {
  const result = await fs.glob(dir, { pattern: '**/*', maxResults: 100, ...query }, never)
  return { ...result, names: result.items.map(({ path }) => path.slice(dir.length + 1)) }
}

async function grep(dir: string, query: Partial<GrepQuery>) {
  const result = await fs.grep(dir, { pattern: 'x', maxResults: 100, ...query }, never)
  const lines = result.items.map(({ path, line, text, match }) => {
    return `${path.slice(dir.length + 1)}:${line}${match ? ':' : '-'}${text}`
  })
  return { ...result, lines }
}

const project = {
  '.gitignore': 'node_modules\nout.ts\n',
  '.github/ci.ts': 'x',
  '.git/config.ts': 'x',
  'a.ts': 'x',
  'b.js': 'x',
  'node_modules/dep/index.ts': 'x',
  'out.ts': 'x',
  'src/c.ts': 'x',
  'src/deep/d.tsx': 'x',
}

describe('glob', () => {
  it('finds below, sorted, without what is hidden or ignored', async () => {
    const dir = await makeTree(project)
    expect((await glob(dir, {})).names).toEqual(['a.ts', 'b.js', 'src/c.ts', 'src/deep/d.tsx'])
    expect((await glob(dir, { pattern: '*.ts' })).names).toEqual(['a.ts'])
    expect((await glob(dir, { pattern: '**/*.{ts,tsx}' })).names).toEqual([
      'a.ts',
      'src/c.ts',
      'src/deep/d.tsx',
    ])
    expect((await glob(dir, { pattern: `${dir}/src/*` })).names).toEqual(['src/c.ts'])
  })

  it('shows hidden and ignored files when asked, never those of git', async () => {
    const dir = await makeTree(project)
    expect((await glob(dir, { pattern: '**/*.ts', hidden: true })).names).toEqual([
      '.github/ci.ts',
      'a.ts',
      'src/c.ts',
    ])
    expect((await glob(dir, { pattern: '**/*.ts', ignored: true })).names).toEqual([
      'a.ts',
      'node_modules/dep/index.ts',
      'out.ts',
      'src/c.ts',
    ])
  })

  it('stops at the limit and says so', async () => {
    const dir = await makeTree(project)
    const { names, incomplete } = await glob(dir, { maxResults: 2 })
    expect(names).toEqual(['a.ts', 'b.js'])
    expect(incomplete).toEqual(['Only the first 2 files are shown.'])
    expect((await glob(dir, { maxResults: 4 })).incomplete).toEqual([])
  })

  it('keeps names with newlines whole and reports names that are not UTF-8', async () => {
    const dir = await makeTree({ 'a\nb.ts': 'x' })
    await writeFile(Buffer.concat([Buffer.from(`${dir}/c`), Buffer.from([0xff])]), 'x')
    const { names, incomplete } = await glob(dir, {})
    expect(names).toEqual(['a\nb.ts'])
    expect(incomplete).toEqual(['1 files whose name is not UTF-8 are left out: ./c\ufffd'])
    expect((await grep(dir, {})).lines).toEqual(['a\nb.ts:1:x'])
  })

  it('gives what can be read and names what cannot', async (test) => {
    needs(test, 'another user')
    const dir = await makeTree({ 'a.ts': 'x', 'locked/b.ts': 'x', 'c.ts': 'x', 'd.ts': 'x' })
    await chmod(dir, 0o755)
    await chmod(join(dir, 'locked'), 0)
    await chmod(join(dir, 'c.ts'), 0)
    const source = pathToFileURL(join(import.meta.dirname, '../src/file-system.ts'))
    const script = `
      import { createFileSystem } from '${source}'
      const signal = new AbortController().signal
      const fs = createFileSystem(signal)
      const find = { pattern: '**', maxResults: 9 }
      const found = [await fs.glob('${dir}', find, signal)]
      found.push(await fs.grep('${dir}', { pattern: 'x', maxResults: 9 }, signal))
      console.log(JSON.stringify(found))`
    // Root reads everything, so the search runs as somebody else.
    const somebody = process.geteuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
    const options = { ...somebody, encoding: 'utf8' } as const
    const child = spawnSync(process.execPath, ['--input-type=module', '-e', script], options)
    await chmod(join(dir, 'locked'), 0o755)
    const [files, lines] = z.array(resultSchema).parse(JSON.parse(child.stdout))
    const nameOf = ({ path }: { path: string }) => path.slice(dir.length + 1)
    expect(files?.items.map(nameOf)).toEqual(['a.ts', 'c.ts', 'd.ts'])
    expect(files?.incomplete).toEqual(['locked: Permission denied'])
    expect(lines?.items.map(nameOf)).toEqual(['a.ts', 'd.ts'])
    expect(lines?.incomplete.toSorted()).toEqual([
      'c.ts: Permission denied',
      'locked: Permission denied',
    ])
  })

  it('refuses patterns that lead outside or cost too much', async () => {
    const dir = await makeTree({ [`${'a'.repeat(200)}`]: '' })
    for (const pattern of ['', '../*', '/etc/*', '{a,b}'.repeat(20), '[a-']) {
      expect(await codeOf(glob(dir, { pattern }))).toBe('PATTERN_INVALID')
    }
  })

  it('searches nothing through a link', async () => {
    const dir = await makeTree({ 'real/a.ts': 'x' })
    await symlink('real', join(dir, 'way'))
    expect(await codeOf(glob(join(dir, 'way'), {}))).toBe('TARGET_MOVED')
    expect(await codeOf(grep(join(dir, 'way'), {}))).toBe('TARGET_MOVED')
    expect((await glob(dir, {})).names).toEqual(['real/a.ts'])
    expect(await codeOf(glob(join(dir, 'none'), {}))).toBe('FILE_NOT_FOUND')
  })
})

describe('grep', () => {
  it('narrows by glob and type without showing what is ignored or hidden', async () => {
    const dir = await makeTree({ ...project, '.hidden.ts': 'x' })
    expect((await grep(dir, { glob: '*.ts' })).lines).toEqual(['a.ts:1:x', 'src/c.ts:1:x'])
    expect((await grep(dir, { glob: 'src/**/*.tsx' })).lines).toEqual(['src/deep/d.tsx:1:x'])
    expect((await grep(dir, { glob: '*.{js,tsx}' })).lines).toEqual([
      'b.js:1:x',
      'src/deep/d.tsx:1:x',
    ])
    expect((await grep(dir, { fileType: 'js' })).lines).toEqual(['b.js:1:x'])
    expect((await grep(dir, { fileType: 'ts', glob: 'src/**' })).lines).toEqual([
      'src/c.ts:1:x',
      'src/deep/d.tsx:1:x',
    ])
  })

  it('gives context and several lines for a match over lines', async () => {
    const dir = await makeTree({ f: 'a\r\nb\nx\nc\nd\nx' })
    expect((await grep(dir, { before: 2, after: 1 })).lines).toEqual([
      'f:1-a',
      'f:2-b',
      'f:3:x',
      'f:4-c',
      'f:5-d',
      'f:6:x',
    ])
    expect((await grep(dir, { before: 2, after: 1, maxResults: 1 })).lines).toEqual([
      'f:1-a',
      'f:2-b',
      'f:3:x',
      'f:4-c',
    ])
    expect((await grep(dir, { pattern: 'x.c', multiline: true })).lines).toEqual(['f:3:x', 'f:4:c'])
    expect((await grep(dir, { pattern: 'X' })).lines).toEqual([])
    expect((await grep(dir, { pattern: 'X', ignoreCase: true })).lines).toHaveLength(2)
  })

  it('says how a pattern or type is wrong', async () => {
    const dir = await makeTree({ f: 'x' })
    await expect(grep(dir, { pattern: 'a(' })).rejects.toThrow('unclosed group')
    await expect(grep(dir, { fileType: 'nope' })).rejects.toMatchObject({ code: 'PATTERN_INVALID' })
    await expect(grep(join(dir, 'f'), { pattern: 'a(' })).rejects.toThrow('unclosed group')
    expect((await grep(dir, { pattern: '--help' })).lines).toEqual([])
  })

  it('searches one file, whatever its name and ignore files say', async () => {
    const dir = await makeTree({ '-f\n.log': 'x\ny\n', '.ignore': '*.log' })
    const path = join(dir, '-f\n.log')
    const { items } = await fs.grep(path, { pattern: '[xy]', maxResults: 1 }, never)
    expect(items).toEqual([{ path, line: 1, text: 'x', match: true }])
  })

  it('cuts long lines, leaves out endless ones and skips binary files', async () => {
    const dir = await makeTree({
      binary: `x\n${'\0'.repeat(100)}x\n`,
      'endless.min.js': 'x'.repeat(100_000),
      'long.js': `${'x'.repeat(900)}\nx\n`,
    })
    const { items, incomplete } = await grep(dir, {})
    expect(items.map(({ text }) => text.length)).toEqual([500, 1])
    expect(incomplete).toEqual([
      `${join(dir, 'endless.min.js')}: a match in a very long line is left out.`,
    ])
    const binary = await grep(join(dir, 'binary'), {})
    expect([binary.items, binary.incomplete]).toEqual([
      [],
      [`${join(dir, 'binary')} is a binary file.`],
    ])
  })

  it('shows bytes that are not UTF-8 as such', async () => {
    const dir = await makeDirectory()
    await writeFile(join(dir, 'f'), Buffer.from([0x78, 0xff, 0x0a]))
    expect((await grep(dir, {})).lines).toEqual(['f:1:x\ufffd'])
  })

  it('ends with the reason of the signal', async () => {
    const dir = await makeTree({ f: 'x\n'.repeat(500_000) })
    const controller = new AbortController()
    const reason = new Error('enough')
    const running = fs.grep(dir, { pattern: 'x', maxResults: 1e9 }, controller.signal)
    setTimeout(() => controller.abort(reason), 20)
    await expect(running).rejects.toBe(reason)
  })
})
