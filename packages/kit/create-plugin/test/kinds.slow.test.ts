import { mkdtemp, readdir, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { kinds } from '../src/index.ts'
import { linkWorkspace, npmIn, writePlugin } from './workspace.ts'

let base: string
beforeAll(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'cordage-create-')))
})
afterAll(() => rm(base, { recursive: true, force: true }))

describe('a new plugin', () => {
  it.each(kinds)('of kind %s passes its own test, build and pack', async (kind) => {
    const folder = join(base, kind)
    await writePlugin(folder, `@acme/my-${kind}`, kind)
    await linkWorkspace(folder)
    await npmIn(folder, ['test'])
    const packed = await npmIn(folder, ['pack', '--json'])
    const json = packed.slice(packed.indexOf('['))
    const [tarball] = JSON.parse(json) as { files: { path: string }[] }[]
    expect(tarball?.files.map(({ path }) => path).sort()).toEqual([
      'LICENSE',
      'README.md',
      'cordis.patch.yml',
      'dist/index.d.ts',
      'dist/index.js',
      'package.json',
    ])
    expect(await readdir(folder)).toContain(`acme-my-${kind}-0.1.0.tgz`)
  })
})
