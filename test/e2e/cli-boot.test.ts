import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCli as runAlone } from './fixture/cli.ts'
import { makePlace, type Place } from './fixture/place.ts'
import { scripts } from './fixture/scripts.ts'
import { runCli } from './fixture/warm-cli.ts'

async function overlay(place: Place, name: string, text: string): Promise<string[]> {
  const file = join(place.base, name)
  await writeFile(file, text)
  return ['--patch', file]
}

describe('a profile', () => {
  it('is taken from a folder, its bundles and rows from the installation', async () => {
    await using place = await makePlace('empty')
    const folder = join(place.base, 'mine')
    await mkdir(folder)
    const manifest = { name: 'mine', cordage: { bundles: ['@cordage/bundle-base'] } }
    await writeFile(join(folder, 'package.json'), JSON.stringify(manifest))
    const layer = join(folder, 'cordis.patch.yml')
    await writeFile(
      layer,
      "- { id: store-jsonl, remove: true }\n- insert: [{ id: mem, name: '@cordage/store-memory' }]\n",
    )
    const args = ['--profile', folder, 'doctor', '--output', 'json']
    const { stdout } = await runCli(place, args)
    expect(JSON.parse(stdout)).toContainEqual(
      expect.objectContaining({ what: 'sessions', detail: expect.stringMatching(/memory/i) }),
    )
  })

  it('that is not there is named with the nearest one, exit 78', async () => {
    await using place = await makePlace('empty')
    const { code, stderr } = await runCli(place, ['--profile', 'headles', 'doctor'])
    expect(stderr).toMatch(/no profile "headles"\. Did you mean headless\?/)
    expect(code).toBe(78)
  })

  it('without a frontend says how to start one', async () => {
    await using place = await makePlace('empty')
    const args = ['--profile', 'sdk-minimal', '--model', 'scripted/fix-a-bug', 'task']
    const { code, stderr } = await runCli(place, args)
    expect(stderr).toMatch(/sdk-minimal has no way in.*--profile/)
    expect(code).toBe(78)
  })
})

describe('a broken layer of one’s own', () => {
  it('is got past with --last-good and with --safe', async () => {
    await using place = await makePlace('empty')
    const home = join(place.home, 'cordis.patch.yml')
    await writeFile(home, '- { id: policy-retry, merge: { maxRetries: 7 } }\n')
    expect((await runCli(place, ['models', 'list'])).code).toBe(0)
    await writeFile(home, '- { id: policy-retry, merge: { maxRetries: [ } }\n')
    const broken = await runCli(place, ['doctor'])
    expect(broken.stderr).toContain(`${home}:1`)
    expect(broken.stderr).toMatch(/--safe.*--last-good/s)
    expect(broken.code).toBe(78)
    expect((await runCli(place, ['--last-good', 'models', 'list'])).code).toBe(0)
    const kept = await runCli(place, ['--last-good', 'config', 'explain', 'policy-retry'])
    expect(kept.stdout).toMatch(/config\.maxRetries\s+7\s+home: /)
    const safe = await runCli(place, ['--safe', 'config', 'explain', 'policy-retry'])
    expect(safe.stdout).not.toContain('maxRetries')
    expect(safe.code).toBe(0)
  })

  it('is not what --last-good keeps of a run with an overlay', async () => {
    await using place = await makePlace('empty')
    const patch = await overlay(place, 'one.yml', '- { id: policy-retry, disabled: true }\n')
    expect((await runCli(place, [...patch, 'models', 'list'])).code).toBe(0)
    const { code, stderr } = await runCli(place, ['--last-good', 'doctor'])
    expect(stderr).toMatch(/No boot of the profile headless is on record/)
    expect(code).toBe(78)
    expect((await runCli(place, [...patch, '--last-good', 'doctor'])).code).toBe(2)
  })
})

describe('rows', () => {
  it('that are optional and fail are named, the rest runs', async () => {
    await using place = await makePlace('empty')
    const text = `- insert:
  - { id: broken, name: ./broken.mjs, optional: true }
  - { id: missing, name: '@nobody/has-this', optional: true }
- id: model-scripted
  config: { scripts: { greet: { steps: [{ text: Hello }] } } }
`
    const patch = await overlay(place, 'optional.yml', text)
    await writeFile(
      join(place.base, 'broken.mjs'),
      'export default { name: "broken", apply: () => { throw new TypeError("no luck") } }',
    )
    const { code, stdout, stderr } = await runCli(place, [
      ...patch,
      '--model',
      'scripted/greet',
      'x',
    ])
    expect(code, stderr).toBe(0)
    expect(stdout).toBe('Hello\n')
    expect(stderr).toMatch(/row "broken" is quarantined: .*no luck/)
    expect(stderr).toMatch(/row "missing" is quarantined: .*not installed/)
  })

  it.each([
    ['a package', "import '@nobody/has-this'", /deep\.mjs imports "@nobody\/has-this"/],
    ['a file', "import './gone.mjs'", /deep\.mjs imports ".*gone\.mjs"/],
    ['a module of CommonJS', "import './old.cjs'", /old\.cjs imports "@nobody\/old"/],
  ])('whose own import of %s is missing are there themselves', async (_, line, reason) => {
    await using place = await makePlace('empty')
    const patch = await overlay(place, 'row.yml', '- insert: [{ id: mine, name: ./mine.mjs }]\n')
    await writeFile(join(place.base, 'mine.mjs'), "import './deep.mjs'\nexport default () => {}\n")
    await writeFile(join(place.base, 'deep.mjs'), `${line}\n`)
    await writeFile(join(place.base, 'old.cjs'), "require('@nobody/old')\n")
    const { code, stdout } = await runCli(place, [...patch, 'config', 'check'])
    expect(stdout).toMatch(reason)
    expect(stdout).toContain('PACKAGE_INVALID')
    expect(stdout).not.toMatch(/not installed|PACKAGE_MISSING/)
    expect(code).toBe(78)
    const other = await overlay(place, 'row.yml', '- insert: [{ id: mine, name: ./gone.mjs }]\n')
    expect((await runCli(place, [...other, 'config', 'check'])).stdout).toContain('PACKAGE_MISSING')
  })

  it('that are required and hang stop the boot within the limit of a row', async () => {
    await using place = await makePlace('empty')
    const patch = await overlay(place, 'hang.yml', '- insert: [{ id: hangs, name: ./hang.mjs }]\n')
    await writeFile(
      join(place.base, 'hang.mjs'),
      'export default { name: "hangs", apply: () => new Promise(() => setInterval(() => {}, 1e6)) }',
    )
    const { code, stderr } = await runCli(place, [...patch, 'doctor'])
    expect(stderr).toMatch(/hang\.yml:1: .*"hangs"/)
    expect(code).toBe(78)
  }, 60_000)
})

describe('symbolic links', () => {
  const write = (path: string) => ({ name: 'write', arguments: { file_path: path, content: 'x' } })

  it.each(['link', 'link/deeper/home'])('hide no home (%s) from the policy', async (home) => {
    await using place = await makePlace('empty')
    const inside = join(place.project, 'inside')
    await mkdir(inside)
    await symlink(inside, join(place.base, 'link'))
    const real = home.replace('link', 'inside')
    const calls = [`${real}/new.yml`, `../${home}/new.yml`, 'beside.txt'].map(write)
    const patch = await scripts(place, { plant: { steps: [{ calls }, { text: 'Done' }] } })
    const env = { CORDAGE_HOME: join(place.base, home) }
    const args = [...patch, '--model', 'scripted/plant', 'Plant']
    const { code, stderr } = await runCli(place, args, { env })
    expect(code, stderr).toBe(0)
    expect(existsSync(join(place.project, 'beside.txt')), stderr).toBe(true)
    expect(existsSync(join(place.project, real, 'logs/cordage.log')), stderr).toBe(true)
    expect(existsSync(join(place.project, real, 'new.yml')), stderr).toBe(false)
  })

  it('lead --cwd to the project itself', async () => {
    await using place = await makePlace('empty')
    await symlink(place.project, join(place.base, 'link'))
    const calls = [write('made.txt')]
    const patch = await scripts(place, { make: { steps: [{ calls }, { text: 'Done' }] } })
    const args = [...patch, '--cwd', '../link', '--model', 'scripted/make', 'Make']
    const { code, stderr } = await runCli(place, args)
    expect(code, stderr).toBe(0)
    expect(existsSync(join(place.project, 'made.txt'))).toBe(true)
    const { stdout } = await runCli(place, ['sessions', 'list', '--output', 'json'])
    expect(JSON.parse(stdout)).toMatchObject([{ header: { project: place.project } }])
  })
})

describe('a layer that is no file', () => {
  it.each(['home', 'overlay'])('is refused and not waited for: the %s', async (kind) => {
    await using place = await makePlace('empty')
    const pipe = join(place.home, kind === 'home' ? 'cordis.patch.yml' : 'pipe')
    execFileSync('mkfifo', [pipe])
    const overlay = kind === 'home' ? [] : ['--patch', pipe]
    const { code, stderr } = await runCli(place, [...overlay, 'config', 'check'])
    expect(stderr).toContain(`The layer ${pipe} cannot be read: it is no file.`)
    expect(code).toBe(78)
  })
})

describe('a link to nothing in the place of the home’s layer', () => {
  it('is refused: nobody would see that the layer is gone', async () => {
    await using place = await makePlace('empty')
    await symlink('/nowhere.yml', join(place.home, 'cordis.patch.yml'))
    const { code, stderr } = await runCli(place, ['config', 'check'])
    expect(stderr).toContain('cordis.patch.yml cannot be read: it is a link to nothing.')
    expect(code).toBe(78)
  })
})

describe('a folder for a new plugin', () => {
  it.each(['/proc/cordage/weather', '/etc/passwd/weather', '/etc/passwd'])(
    'that cannot be made (%s) is named',
    async (folder) => {
      await using place = await makePlace('empty')
      const args = ['plugin', 'create', 'weather', '--directory', folder]
      const { code, stderr } = await runCli(place, args)
      expect(stderr).toContain(`Nothing can be made in ${folder}: `)
      expect(stderr).toContain('PLUGIN_FOLDER_REFUSED')
      expect(code).toBe(2)
    },
  )
})

describe('a home that cannot be used', () => {
  it('is named, exit 78, also where making a folder would never return', async () => {
    await using place = await makePlace('empty')
    const file = join(place.base, 'file')
    await writeFile(file, '')
    for (const home of [file, '/proc/nothing/here']) {
      const { code, stderr } = await runAlone({ ...place, home }, ['run', 'hello'])
      expect(stderr).toContain(`The home ${home} cannot be used`)
      expect(code).toBe(78)
    }
  })
})
