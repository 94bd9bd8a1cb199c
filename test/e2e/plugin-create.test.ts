import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { kinds } from '../../packages/kit/create-plugin/src/index.ts'
import { linkWorkspace, npmIn } from '../../packages/kit/create-plugin/test/workspace.ts'
import { runCli } from './fixture/cli.ts'
import { makePlace } from './fixture/place.ts'

const LONG = { timeout: 300_000 }
/** A tool is followed through its whole life in plugin-life.test.ts. */
const rest = kinds.filter((kind) => kind !== 'tool')
const PACKED = [
  'LICENSE',
  'README.md',
  'cordis.patch.yml',
  'dist/index.d.ts',
  'dist/index.js',
  'package.json',
]

describe('a new plugin', () => {
  it.each(rest)('of kind %s passes its own test, build and pack, and runs', LONG, async (kind) => {
    await using place = await makePlace('empty')
    const cordage = async (...args: string[]) => {
      const ended = await runCli(place, args)
      expect(ended, ended.stderr).toMatchObject({ code: 0 })
      return ended.stdout
    }
    await cordage('plugin', 'create', `@acme/my-${kind}`, '--kind', kind)
    const source = join(place.project, `my-${kind}`)
    await linkWorkspace(source)
    expect(await npmIn(source, ['test'])).toMatch(/passed/)
    // From its sources, before it is built.
    await cordage('--patch', join(source, 'dev.patch.yml'), 'config', 'check')

    const output = await npmIn(source, ['pack', '--json'])
    const [packed] = JSON.parse(output.slice(output.indexOf('['))) as [
      { filename: string; files: { path: string }[] },
    ]
    expect(packed.files.map(({ path }) => path).sort()).toEqual(PACKED)
    await cordage('plugin', 'add', join(source, packed.filename))
    const listed = JSON.parse(await cordage('plugin', 'list', '--output', 'json')) as unknown
    expect(listed).toMatchObject([{ name: `@acme/my-${kind}`, state: 'active' }])
    const check = await cordage('config', 'check')
    expect(check).not.toMatch(/quarantined|skipped/)
  })
})
