import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { kinds } from '../../packages/kit/create-plugin/src/index.ts'
import { linkWorkspace, npmIn } from '../../packages/kit/create-plugin/test/workspace.ts'
import { runCli } from './fixture/cli.ts'
import { makePlace, type Place } from './fixture/place.ts'

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

describe('new plugins', () => {
  let place: Place
  beforeAll(async () => {
    place = await makePlace('empty')
  })
  afterAll(() => place[Symbol.asyncDispose]())

  const folderOf = (kind: string) => join(place.project, `my-${kind}`)
  const cordage = async (...args: string[]) => {
    const ended = await runCli(place, args)
    expect(ended, ended.stderr).toMatchObject({ code: 0 })
    return ended.stdout
  }

  it.each(rest)('of kind %s are made, and pass their own test', LONG, async (kind) => {
    await cordage('plugin', 'create', `@acme/my-${kind}`, '--kind', kind)
    await linkWorkspace(folderOf(kind))
    expect(await npmIn(folderOf(kind), ['test'])).toMatch(/passed/)
  })

  it('run from their sources, are packed with what they need, and run', LONG, async () => {
    // Before they are built.
    const overlays = rest.flatMap((kind) => ['--patch', join(folderOf(kind), 'dev.patch.yml')])
    await cordage(...overlays, 'config', 'check')

    const tarballs: string[] = []
    for (const kind of rest) {
      const output = await npmIn(folderOf(kind), ['pack', '--json'])
      const [packed] = JSON.parse(output.slice(output.indexOf('['))) as [
        { filename: string; files: { path: string }[] },
      ]
      expect(packed.files.map(({ path }) => path).sort(), kind).toEqual(PACKED)
      tarballs.push(join(folderOf(kind), packed.filename))
    }
    await cordage('plugin', 'add', ...tarballs)
    const listed = JSON.parse(await cordage('plugin', 'list', '--output', 'json')) as unknown
    expect(listed).toEqual(
      rest.map((kind) => expect.objectContaining({ name: `@acme/my-${kind}`, state: 'active' })),
    )
    const check = await cordage('config', 'check')
    expect(check).not.toMatch(/quarantined|skipped/)
  })
})
