import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Broken } from '../../packages/core/test/compose/corpus/broken.ts'
import { corpus } from '../../packages/core/test/compose/corpus/corpus.ts'
import { writePlugins, type Plugins } from '../../packages/core/test/compose/corpus/plugins.ts'
import { makePlace, type Place } from './fixture/place.ts'
import { runCli } from './fixture/warm-cli.ts'

let plugins: Plugins
beforeAll(async () => {
  plugins = await writePlugins()
})
afterAll(() => plugins[Symbol.asyncDispose]())

/** A profile of nothing but the layers of a case; gives the arguments that choose it. */
async function profileOf(place: Place, { layers }: Broken): Promise<string[]> {
  const folder = join(place.base, 'broken')
  const bundle = join(folder, 'node_modules/broken-bundle')
  await mkdir(bundle, { recursive: true })
  const json = (path: string, value: object) => writeFile(path, JSON.stringify(value))
  await json(join(folder, 'package.json'), {
    name: 'broken',
    cordage: { bundles: ['broken-bundle'] },
  })
  await json(join(bundle, 'package.json'), {
    name: 'broken-bundle',
    cordage: { bundle: './bundle.yml' },
  })
  const files = {
    bundle: join(bundle, 'bundle.yml'),
    profile: join(folder, 'cordis.patch.yml'),
    home: join(place.home, 'cordis.patch.yml'),
    overlay: join(place.base, 'overlay.yml'),
  }
  for (const [kind, file] of Object.entries(files)) {
    const text = layers[kind as keyof typeof files] ?? ''
    await writeFile(file, text.replaceAll('PLUGINS', plugins.folder))
  }
  return ['--profile', folder, '--patch', files.overlay]
}

// `home.yml:2` of the corpus is the file that the layer of the home has.
const placeOf = (place: string) => place.replace('home.yml', 'cordis.patch.yml')

describe('a broken composition, by the command line,', () => {
  for (const broken of corpus.filter(({ cli }) => cli)) {
    it(`of ${broken.title}`, async () => {
      await using place = await makePlace('empty')
      const profile = await profileOf(place, broken)
      const { expect: expected } = broken
      const doctor = await runCli(place, [...profile, 'doctor', '--offline', '--output', 'json'])
      if (expected.exit === 78) {
        expect(doctor.code, doctor.stderr).toBe(78)
        expect(doctor.stderr).not.toMatch(/^ +at /m)
        const lines = doctor.stderr.split('\n').filter((line) => /\[[A-Z_]+\]/.test(line))
        expect(lines).toHaveLength(expected.problems.length)
        expected.problems.forEach(([code, at, words, row = ''], i) => {
          for (const part of [code, placeOf(at), words, row]) expect(lines[i]).toContain(part)
        })
        return
      }
      const checks = JSON.parse(doctor.stdout) as { what: string; detail: string }[]
      for (const [id, state, , words] of expected.culprits) {
        const { detail = '' } = checks.find(({ what }) => what === id) ?? {}
        expect(detail).toContain(state)
        expect(detail).toContain(words)
      }
      const fine = checks.find(({ what }) => what === 'rows')
      expect(fine?.detail).toMatch(/^1 of /)
    })
  }
})

describe('rows of others that fail', () => {
  it('are the first lines of a run, and told by doctor and config check; the run is done', async () => {
    await using place = await makePlace('empty')
    const layer = `- insert:
    - { id: throws, name: '${plugins.folder}/throws.mjs', optional: true }
    - { id: gone, name: '@gone/tool', optional: true }
- id: model-scripted
  config: { scripts: { greet: { steps: [{ text: Hello }] } } }
`
    await writeFile(join(place.home, 'cordis.patch.yml'), layer)
    const run = await runCli(place, ['--model', 'scripted/greet', 'x'])
    expect(run.code, run.stderr).toBe(0)
    expect(run.stdout).toBe('Hello\n')
    const [first = '', second = ''] = run.stderr.split('\n')
    expect(first).toMatch(/row "throws" is quarantined: .*no luck/)
    expect(second).toMatch(/row "gone" is quarantined: .*not installed/)

    const doctor = await runCli(place, ['doctor', '--offline'])
    expect(doctor.stdout).toMatch(/throws +quarantined: .*no luck/)
    const check = await runCli(place, ['config', 'check'])
    expect(check.code).toBe(0)
    expect(check.stdout).toMatch(/gone: quarantined: .*not installed/)
  })
})

describe('config diff', () => {
  it('says what an overlay changes, each value with its old and new place, exit 1', async () => {
    await using place = await makePlace('empty')
    const patch = join(place.base, 'try.yml')
    const text =
      '- id: policy-retry\n  merge:\n    maxRetries: 2\n- { id: tool-bash, disabled: true }\n- { id: tool-glob, remove: true }\n'
    await writeFile(patch, text)
    const { code, stdout } = await runCli(place, ['--patch', patch, 'config', 'diff'])
    expect(code).toBe(1)
    expect(stdout).toContain('~ policy-retry\n')
    expect(stdout).toMatch(new RegExp(`\\+ config\\.maxRetries +2 +overlay: ${patch}:3`))
    expect(stdout).toMatch(
      /~ tool-bash in the preset standard\n +- disabled +false +bundle: .*coding/,
    )
    expect(stdout).toContain(`- tool-glob in the preset standard (overlay: ${patch}:5)`)
  })

  it('without an overlay says what the own layers change of a profile, exit 0 for nothing', async () => {
    await using place = await makePlace('empty')
    const nothing = await runCli(place, ['config', 'diff', 'headless'])
    expect([nothing.code, nothing.stdout]).toEqual([0, 'No difference.\n'])
    await writeFile(
      join(place.home, 'cordis.patch.yml'),
      '- { id: policy-retry, disabled: true }\n',
    )
    const own = await runCli(place, ['config', 'diff', 'headless', '--output', 'json'])
    expect(own.code).toBe(1)
    expect(JSON.parse(own.stdout)).toMatchObject([
      {
        id: 'policy-retry',
        kind: 'changed',
        values: [{ path: 'disabled', after: { kind: 'home', line: 1 } }],
      },
    ])
  })

  it('of a layer that cannot be used says why, exit 78', async () => {
    await using place = await makePlace('empty')
    const patch = join(place.base, 'try.yml')
    await writeFile(patch, '- { id: policy-rety, disabled: true }\n')
    const { code, stderr } = await runCli(place, ['--patch', patch, 'config', 'diff'])
    expect(code).toBe(78)
    expect(stderr).toContain(`${patch}:1`)
  })
})
