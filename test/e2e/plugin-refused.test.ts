import { existsSync, globSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  HELLO,
  layerOf,
  writePackage,
  writeTarball,
  type PackageOptions,
} from './fixture/package.ts'
import { makePlace } from './fixture/place.ts'
import { runCli } from './fixture/warm-cli.ts'

/** Says when it is loaded, which nothing that is refused may be. */
const LOUD = `import { writeFileSync } from 'node:fs'
writeFileSync(new URL('./loaded', import.meta.url), 'yes')
${HELLO}`

const refusals: [title: string, options: PackageOptions, reason: RegExp][] = [
  [
    'for another api',
    { cordage: { api: '^2.0.0' } },
    /it is made for api \^2\.0\.0, and this Cordage has api 1\.\d+\.\d+/,
  ],
  ['whose api is no range', { cordage: { api: 'new' } }, /made for api new/],
  ['without an api', { cordage: { api: undefined } }, /has no api range/],
  ['without a bundle', { cordage: { bundle: undefined } }, /names no bundle/],
  [
    'whose bundle is missing',
    { cordage: { bundle: './none.yml' } },
    /none\.yml is not in the pack/,
  ],
  ['whose bundle is outside', { cordage: { bundle: '../x.yml' } }, /is not in the package/],
  ['with a broken layer', { layer: '- insert: [\n' }, /cordis\.patch\.yml:\d.*YAML_INVALID/],
  ['with uses that are no list', { cordage: { uses: 'all' } }, /uses has to be a list of texts/],
  ['whose bundle is no text', { cordage: { bundle: 3 } }, /bundle has to be a text/],
  ['whose bundle is a folder', { cordage: { bundle: './' } }, /bundle \.\/ is no file/],
  [
    'with a row of a file outside',
    { layer: "- insert: [{ id: hello, name: '../../elsewhere.js' }]\n" },
    /there is no file|not in the package/,
  ],
  [
    'with a row of a file anywhere',
    { layer: `- insert: [{ id: hello, name: '${import.meta.filename}' }]\n` },
    /plugin-refused\.test\.ts is not in the package/,
  ],
  [
    'that asks for a required row',
    { layer: "- insert: [{ id: hello, name: 'cordage-hello', optional: false }]\n" },
    /required, which a plugin may not/,
  ],
  [
    'that ships TypeScript',
    { manifest: { exports: './index.ts' }, files: { 'index.ts': LOUD } },
    /index\.ts is TypeScript.*has to ship JavaScript/,
  ],
  [
    'that was not built',
    { manifest: { exports: './dist/index.js' }, files: {} },
    /there is no file.*dist\/index\.js/,
  ],
]

describe('a package', () => {
  it.each(refusals)(
    '%s is refused with the reason, and nothing of it stays',
    async (_, options, reason) => {
      await using place = await makePlace('empty')
      const whole = { files: { 'index.js': LOUD }, ...options }
      // Only what npm unpacked has to be JavaScript; the others save a process.
      const write = options.manifest ? writeTarball : writePackage
      const { code, stderr } = await runCli(place, ['plugin', 'add', await write(place, whole)])
      expect(stderr).toMatch(reason)
      expect(stderr).toContain('[PLUGIN_REFUSED]')
      expect(code).toBe(78)
      expect(existsSync(join(place.home, 'profiles'))).toBe(false)
      expect(globSync('**/loaded', { cwd: place.base })).toEqual([])
    },
  )

  it('that is not there, or that npm does not take, changes nothing', async () => {
    await using place = await makePlace('empty')
    const missing = await runCli(place, ['plugin', 'add', './nowhere.tgz'])
    expect(missing).toMatchObject({ code: 78, stderr: expect.stringContaining('nothing at') })
    const file = join(place.project, 'broken.tgz')
    await writeFile(file, 'no tarball')
    const broken = await runCli(place, ['plugin', 'add', file])
    expect(broken).toMatchObject({ code: 1, stderr: expect.stringContaining('PLUGIN_NPM_FAILED') })
    expect(existsSync(join(place.home, 'profiles'))).toBe(false)
  })

  it('that is refused leaves those that were there, all or none', async () => {
    await using place = await makePlace('empty')
    const one = await writeTarball(place)
    const other = await writeTarball(place, { name: 'cordage-other', cordage: { api: '^9.0.0' } })
    const third = await writePackage(place, {
      name: 'cordage-third',
      layer: "- insert: [{ id: third, name: './index.js' }]\n",
    })
    expect((await runCli(place, ['plugin', 'add', one])).code).toBe(0)
    expect((await runCli(place, ['plugin', 'add', third, other])).code).toBe(78)
    const { code, stdout, stderr } = await runCli(place, ['plugin', 'list', '--output', 'json'])
    expect(code, stderr).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject([{ name: 'cordage-hello', state: 'active' }])
  })

  it('does not change while another process changes plugins; one that died is no hindrance', async () => {
    await using place = await makePlace('empty')
    const tarball = await writeTarball(place)
    const lock = join(place.home, 'profiles/headless.lock')
    await mkdir(join(place.home, 'profiles'))
    await writeFile(lock, `${process.pid} it`)
    const busy = await runCli(place, ['plugin', 'add', tarball])
    expect(busy).toMatchObject({ code: 75, stderr: expect.stringContaining(String(process.pid)) })
    await writeFile(lock, '2147483646 it')
    expect((await runCli(place, ['plugin', 'add', tarball])).code).toBe(0)
    expect(existsSync(lock)).toBe(false)
  })
})

describe('a plugin by its path', () => {
  it('may be TypeScript, is used where it is, and its folder is left alone', async () => {
    await using place = await makePlace('empty')
    const folder = await writePackage(place, {
      manifest: { exports: './index.ts' },
      files: {
        'index.ts': HELLO.replace('execute: async ()', 'execute: async (): Promise<string>'),
      },
    })
    expect((await runCli(place, ['plugin', 'add', folder])).code).toBe(0)
    const tools = await runCli(place, ['tools'])
    expect(tools.stdout).toMatch(/^hello +hello +offered/m)
    const { stdout, stderr } = await runCli(place, ['plugin', 'update'])
    expect({ stdout, stderr }).toMatchObject({ stderr: expect.stringContaining(folder) })
    expect((await runCli(place, ['plugin', 'remove', 'cordage-hello'])).code).toBe(0)
    expect(existsSync(join(folder, 'index.ts'))).toBe(true)
    expect(existsSync(join(place.home, 'profiles'))).toBe(false)
  })

  it('that is gone is named, and everything else runs', async () => {
    await using place = await makePlace('empty')
    const folder = await writePackage(place)
    await runCli(place, ['plugin', 'add', folder])
    await rm(folder, { recursive: true })
    const run = await runCli(place, ['--model', 'scripted/fix-a-bug', 'go'])
    expect(run.stderr.split('\n')[0]).toMatch(/"cordage-hello-1-0-0" is quarantined.*add it again/)
    const check = await runCli(place, ['config', 'check'])
    expect(check.stdout).toMatch(/cordage-hello-1-0-0: quarantined/)
    expect(check.code).toBe(0)
    expect((await runCli(place, ['plugin', 'remove', folder])).code).toBe(0)
  })
})

describe('what a plugin says of itself', () => {
  it('drives no terminal, and what it takes away is said', async () => {
    await using place = await makePlace('empty')
    const layer = '- { id: tool-grep, remove: true }\n'
    const cordage = { uses: ['\u001b[2Jnet:x\u202e'] }
    const folder = await writePackage(place, { layer, cordage })
    const added = await runCli(place, ['plugin', 'add', folder])
    expect(added.stdout).toContain('says that it uses: \\x1b[2Jnet:x\\x202e\n')
    expect(added.stdout).toContain('takes rows of others away: tool-grep\n')
    const listed = await runCli(place, ['plugin', 'list'])
    expect(listed.stdout).toContain('\\x1b[2Jnet:x')
    expect(listed.stderr).toMatch(/cordage-hello is in no use here: it brings no rows/)
  })

  it('on the console goes to stderr: stdout is for the answer', async () => {
    await using place = await makePlace('empty')
    const files = { 'index.js': `console.log('loud')\n${HELLO}` }
    await runCli(place, ['plugin', 'add', await writePackage(place, { files })])
    const { stdout, stderr } = await runCli(place, ['tools', '--output', 'json'])
    expect(JSON.parse(stdout)).toContainEqual(expect.objectContaining({ name: 'hello' }))
    expect(stderr).toContain('loud')
  })
})

describe('a manifest of plugins', () => {
  it('that is no JSON is named; --safe starts without it', async () => {
    await using place = await makePlace('empty')
    const file = join(place.home, 'profiles/headless/package.json')
    await mkdir(join(file, '..'), { recursive: true })
    await writeFile(file, '{ "cordage": ')
    const { code, stderr } = await runCli(place, ['config', 'check'])
    expect({ code, stderr }).toMatchObject({ code: 78 })
    expect(stderr).toContain(`${file} cannot be used:`)
    expect((await runCli(place, ['--safe', 'config', 'check'])).code).toBe(0)
  })
})

describe('what is no plugin', () => {
  it.each([[''], ['--global']])('is not given to npm: "%s"', async (spec) => {
    await using place = await makePlace('empty')
    const { code, stderr } = await runCli(place, ['plugin', 'add', '--', spec])
    expect(stderr).toContain('give a name as npm takes it, a tarball or a folder')
    expect(code).toBe(78)
  })
})

describe('the layer of a person', () => {
  it('that still changes a row of a removed plugin is named at once', async () => {
    await using place = await makePlace('empty')
    await runCli(place, ['plugin', 'add', await writePackage(place)])
    const home = join(place.home, 'cordis.patch.yml')
    await writeFile(home, '# mine\n- { id: hello, disabled: true }\n')
    expect((await runCli(place, ['config', 'check'])).code).toBe(0)
    const other = await runCli(place, ['--profile', 'sdk-minimal', 'config', 'check'])
    expect(other.stdout).toContain('Skipped: the profile sdk-minimal has no row "hello"')
    expect(other.code).toBe(0)
    const { stderr } = await runCli(place, ['plugin', 'remove', 'cordage-hello'])
    expect(stderr).toContain(`${home}:2: There is no row "hello" to change.`)
  })

  it('comes after that of a plugin, and --safe leaves both out', async () => {
    await using place = await makePlace('empty')
    const layer = `${layerOf('cordage-hello')}- { id: policy-retry, merge: { maxRetries: 3 } }\n`
    const added = await runCli(place, ['plugin', 'add', await writePackage(place, { layer })])
    expect(added.stdout).toContain('changes rows of others: policy-retry')
    const retries = async (...options: string[]) => {
      const { stdout } = await runCli(place, [...options, 'config', 'explain', 'policy-retry'])
      return /maxRetries +(\d+) +(\w+)/.exec(stdout)?.slice(1)
    }
    expect(await retries()).toEqual(['3', 'plugin'])
    await writeFile(
      join(place.home, 'cordis.patch.yml'),
      '- { id: policy-retry, merge: { maxRetries: 4 } }\n',
    )
    expect(await retries()).toEqual(['4', 'home'])
    expect(await retries('--safe')).toBeUndefined()
  })
})
