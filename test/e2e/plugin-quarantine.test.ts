import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writePackage } from './fixture/package.ts'
import { makePlace } from './fixture/place.ts'
import { runCli } from './fixture/warm-cli.ts'

const plugin = (apply: string, more = '') => `import { definePlugin } from '@cordage/core/kernel'
import { z } from 'zod'
export default definePlugin({ name: 'broken', ${more} apply: ${apply} })
`
const SCHEMA = 'config: z.strictObject({ places: z.number() }),'

const broken: Readonly<Record<string, { code: string; reason: RegExp }>> = {
  throws: { code: plugin("() => { throw new TypeError('no luck') }"), reason: /no luck/ },
  hangs: {
    code: plugin('() => new Promise(() => {})'),
    reason: /did not become active within \d+ ms/,
  },
  'bad-config': { code: plugin('() => {}', SCHEMA), reason: /invalid config\.places/ },
  'no-plugin': { code: 'export const nothing = 1\n', reason: /exports no plugin/ },
  'bad-import': { code: "import 'not-there'\n", reason: /imports "not-there"/ },
  syntax: { code: 'export default {\n', reason: /cannot be loaded/ },
  'too-new': { code: plugin('() => {}'), reason: /asks for api \^9/ },
}

describe('broken rows of plugins', () => {
  it('are named by the run first of all, by doctor and by the check; the rest works', async () => {
    await using place = await makePlace('empty')
    const entries = Object.entries(broken)
    const folders: string[] = []
    for (const [id, { code }] of entries) {
      const layer = `- insert: [{ id: ${id}, name: './index.js' }]\n`
      const folder = await writePackage(place, { name: id, layer, files: { 'index.js': code } })
      folders.push(folder)
    }
    const added = await runCli(place, ['plugin', 'add', ...folders])
    expect(added, added.stderr).toMatchObject({ code: 0 })
    // It fitted when it was added.
    const manifest = join(folders.at(-1) ?? '', 'package.json')
    const cordage = { api: '^9.0.0', bundle: './cordis.patch.yml' }
    await writeFile(
      manifest,
      JSON.stringify({ name: 'too-new', version: '2.0.0', type: 'module', cordage }),
    )

    const run = await runCli(place, ['--model', 'scripted/fix-a-bug', 'go'])
    const first = run.stderr.split('\n').slice(0, entries.length).join('\n')
    expect(first).toContain('notice: the row')
    const doctor = await runCli(place, ['doctor', '--offline'])
    for (const [id, { reason }] of entries) {
      for (const text of [first, doctor.stdout]) {
        const line = text.split('\n').find((one) => one.includes(id))
        expect(line, id).toMatch(/quarantined|skipped/)
        expect(line, id).toMatch(reason)
      }
    }
    expect(run.stderr).toMatch(/completed|step 1/)

    const check = await runCli(place, ['config', 'check'])
    // What only a start can show is not in a check that starts nothing.
    for (const [id, { reason }] of entries.slice(2)) {
      expect(check.stdout).toMatch(
        new RegExp(`^${id}: (quarantined|skipped): .*${reason.source}`, 'm'),
      )
    }
    expect(check.code).toBe(0)
  })
})

describe('a row of a plugin that keeps the prompt from being written', () => {
  it('is named by doctor, the list and the run that it ends', async () => {
    await using place = await makePlace('empty')
    const part = "{ id: 'x', render() { throw new Error('no words') } }"
    const code = plugin(`(ctx) => ctx.prompt.context(ctx, ${part})`, "inject: ['prompt'],")
    const layer = "- preset: standard\n  rows: [{ id: mute, name: './index.js' }]\n"
    const files = { 'index.js': code }
    await runCli(place, [
      'plugin',
      'add',
      await writePackage(place, { name: 'mute', layer, files }),
    ])
    const list = await runCli(place, ['plugin', 'list', '--output', 'json'])
    expect(JSON.parse(list.stdout)).toMatchObject([{ name: 'mute', state: 'failing' }])
    const doctor = await runCli(place, ['doctor', '--offline'])
    expect(doctor.stdout).toMatch(
      /^failed +mute +Row mute failed while it wrote the prompt part x/m,
    )
    const run = await runCli(place, ['--model', 'scripted/fix-a-bug', 'go'])
    expect(run.stderr).toContain('Row mute failed while it wrote the prompt part x')
    expect(run.code).toBe(1)
  })
})

const probe = (body: string) => `import { Context, Service } from 'cordis'
const note = (ctx, text) => ctx.logger.info('plain %s', text)
${body}
`

const plain: Readonly<Record<string, string>> = {
  'a-function': probe("export default function hello(ctx) { note(ctx, 'function') }"),
  'a-class': probe(`export default class Hello extends Service {
  constructor(ctx) { super(ctx, 'plainHello'); note(ctx, 'class') }
}`),
  'an-object': probe(
    "export const name = 'hello'\nexport function apply(ctx) { note(ctx, 'object') }",
  ),
}

describe('plain Cordis plugins', () => {
  it('are rows like others, on the one container there is', async () => {
    await using place = await makePlace('empty')
    const rows = Object.keys(plain).map((id) => `    - { id: ${id}, name: !path ./${id}.js }\n`)
    const patch = join(place.project, 'plain.yml')
    await writeFile(patch, `- insert:\n${rows.join('')}`.replaceAll('!path ', ''))
    await writeFile(join(place.project, 'package.json'), '{ "type": "module" }')
    for (const [id, text] of Object.entries(plain)) {
      await writeFile(join(place.project, `${id}.js`), text)
    }
    const { stdout } = await runCli(place, [
      '--patch',
      patch,
      'doctor',
      '--offline',
      '--output',
      'json',
    ])
    const checks = JSON.parse(stdout) as { what: string; detail: string }[]
    expect(checks.filter(({ what }) => what in plain)).toEqual([])
    const { stderr } = await runCli(place, ['--debug', '--patch', patch, 'tools'])
    for (const kind of ['function', 'class', 'object']) expect(stderr).toContain(`plain ${kind}`)
  })
})

describe('a plugin with copies of its own', () => {
  it('gets the one core and the one container all the same', async () => {
    await using place = await makePlace('empty')
    const fake = (name: string) =>
      JSON.stringify({
        name,
        version: '0.0.1',
        type: 'module',
        exports: { '.': './i.js', './*': './i.js' },
      })
    const spoiled = "throw new Error('the wrong copy was loaded')\n"
    const files = {
      'index.js': `import { Context } from 'cordis'
import { createRoot, definePlugin } from '@cordage/core/kernel'
import { z } from 'zod'
export default definePlugin({ name: 'copies', config: z.strictObject({}), apply: (ctx) => {
  ctx.logger.info('same container: %s', createRoot() instanceof Context && ctx.root instanceof Context)
} })
`,
      'node_modules/cordis/package.json': fake('cordis'),
      'node_modules/cordis/i.js': spoiled,
      'node_modules/@cordage/core/package.json': fake('@cordage/core'),
      'node_modules/@cordage/core/i.js': spoiled,
    }
    const layer = "- insert: [{ id: copies, name: './index.js' }]\n"
    const folder = await writePackage(place, { name: 'copies', layer, files })
    expect((await runCli(place, ['plugin', 'add', folder])).code).toBe(0)
    const { stderr } = await runCli(place, ['--debug', 'plugin', 'list'])
    expect(stderr).toContain('same container: true')
    expect(stderr).not.toContain('wrong copy')
  })
})
