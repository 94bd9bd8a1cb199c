import { execFile } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { cleanEnv, runCli } from '../e2e/fixture/cli.ts'
import { cordageBin, packed as installation } from '../e2e/fixture/installation.ts'
import { makePlace, repository, type Place } from '../e2e/fixture/place.ts'
import { measureInstall } from './measure.ts'

const run = promisify(execFile)
const packed = installation ?? ''
const modules = join(packed, 'node_modules')
const nodes = [process.execPath, ...(process.env['CORDAGE_NODES'] ?? '').split(delimiter)]

describe('an installation', () => {
  it('stays below 130 MB and 60 packages of others, and runs no script', () => {
    const { megabytes, thirdParty, withScripts } = measureInstall(packed)
    console.log(`installed: ${megabytes.toFixed(1)} MB, ${thirdParty.length} packages of others`)
    expect(megabytes).toBeLessThan(130)
    expect(thirdParty.length).toBeLessThanOrEqual(60)
    expect(withScripts).toEqual([])
  })

  it('has one version, and every package its licence and those of what is in it', () => {
    const folders = globSync(['cordage', '@cordage/*'], { cwd: modules })
    const manifests = folders.map((folder) => {
      return JSON.parse(readFileSync(join(modules, folder, 'package.json'), 'utf8')) as Manifest
    })
    expect(new Set(manifests.map(({ version }) => version)).size).toBe(1)
    expect(folders.filter((one) => !existsSync(join(modules, one, 'LICENSE')))).toEqual([])
    const notices = (name: string) =>
      readFileSync(join(modules, name, 'THIRD-PARTY-LICENSES.txt'), 'utf8')
    expect(notices('@cordage/core')).toMatch(/^zod .*\(MIT\)$[^]*Permission is hereby granted/m)
    expect(notices('@cordage/model-openai')).toMatch(/^openai .*\(Apache-2\.0\)$/m)
    expect(notices('cordage')).toMatch(/^commander /m)
  })

  it('holds no source, no test and no range that npm does not know', () => {
    const files = globSync(['cordage/**', '@cordage/**'], { cwd: modules }).filter((file) => {
      return !file.includes('create-plugin/templates/')
    })
    const sources = files.filter((file) => /(?<!\.d)\.ts$|\/test\/|tsconfig/.test(file))
    expect(sources).toEqual([])
    const manifests = files.filter((file) => file.endsWith('package.json'))
    const texts = manifests.map((file) => readFileSync(join(modules, file), 'utf8'))
    expect(texts.filter((text) => /workspace:|devDependencies|\.\/src\//.test(text))).toEqual([])
  })
})

interface Manifest {
  readonly version: string
}

describe.each(nodes)('under %s', (node) => {
  const cordage = (place: Place, ...args: string[]) =>
    run(node, [cordageBin, ...args], { env: cleanEnv(place), cwd: place.project })

  it('says its version and checks itself', async () => {
    await using place = await makePlace('empty')
    const manifest = join(modules, 'cordage/package.json')
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as Manifest
    expect((await cordage(place, '--version')).stdout).toBe(`${version}\n`)
    expect((await cordage(place, 'config', 'check')).stdout).toContain('would start')
    // Without a key for a model the doctor is not content: that is not about the packages.
    const { stdout } = await cordage(place, 'doctor').catch((error) => error)
    expect(stdout).toMatch(/^ok +rows +(\d+) of \1 active/m)
    expect(stdout).not.toMatch(/^failed/m)
  })

  it('does the sample task', async () => {
    await using place = await makePlace()
    const { stdout } = await cordage(place, '--model', 'scripted/fix-a-bug', 'Fix the test')
    expect(stdout).toContain('all tests pass')
    // Variables of the runner that runs this would make `node --test` report to it.
    await run(node, ['--test'], { cwd: place.project, env: { PATH: process.env['PATH'] } })
  })
})

describe('a plugin by path', () => {
  it('shares core and container with the installation, and brings its own schemas', async () => {
    await using place = await makePlace('empty')
    const patch = join(place.base, 'mine.patch.yml')
    await writePlugin(place)
    const row = '{ id: mine, name: ./mine.mjs, config: { greeting: Ahoy } }'
    await writeFile(patch, `- preset: standard\n  rows: [${row}]\n`)
    const args = ['--patch', patch, 'tools', 'greet', '--output', 'json']
    const { stdout, stderr } = await runCli(place, args)
    expect(stderr).toBe('')
    expect(stdout).toContain('Says Ahoy.')
    expect(stdout).toContain('Whom to greet')
  })

  it('whose config its own schemas refuse is refused by field', async () => {
    await using place = await makePlace('empty')
    const patch = join(place.base, 'mine.patch.yml')
    await writePlugin(place)
    const row = '{ id: mine, name: ./mine.mjs, config: { greeting: 1 } }'
    await writeFile(patch, `- preset: standard\n  rows: [${row}]\n`)
    const { stdout, code } = await runCli(place, ['--patch', patch, 'config', 'check'])
    expect(stdout).toMatch(/mine\.patch\.yml:2: .*greeting/)
    expect(code).toBe(78)
  })
})

/** A plain file with a copy of the schema library of its own. */
async function writePlugin({ base }: Place): Promise<void> {
  await mkdir(join(base, 'node_modules'))
  await symlink(join(repository, 'node_modules/zod'), join(base, 'node_modules/zod'))
  await writeFile(join(base, 'mine.mjs'), plugin)
}

const plugin = `
import { definePlugin } from '@cordage/core/kernel'
import { Service } from 'cordis'
import { z } from 'zod'
if (typeof Service !== 'function') throw new Error('no container')
export default definePlugin({
  name: 'mine',
  inject: ['tools'],
  config: z.strictObject({ greeting: z.string() }),
  apply: (ctx, { greeting }) => ctx.tools.register(ctx, {
    name: 'greet',
    description: 'Says ' + greeting + '.',
    parameters: z.strictObject({ name: z.string().describe('Whom to greet') }),
    effects: () => [],
    execute: async () => ({}),
  }),
})
`

describe('its types', () => {
  // cordis itself has no types for `nodenext`: its files are imported without their endings.
  it('fit a program that embeds it and a plugin, as a bundler resolves them', async () => {
    const file = join(packed, 'consumer.ts')
    await writeFile(file, consumer)
    const tsc = join(repository, 'node_modules/.bin/tsc')
    const types = ['--typeRoots', join(repository, 'node_modules/@types'), '--types', 'node']
    const resolution = ['--module', 'esnext', '--moduleResolution', 'bundler']
    const args = ['--noEmit', '--strict', '--target', 'es2024', ...resolution, ...types, file]
    const { stdout } = await run(tsc, args, { cwd: packed }).catch((error) => error)
    expect(stdout).toBe('')
  })
})

const consumer = `
import { definePlugin, type Services } from '@cordage/core/kernel'
import type {} from '@cordage/core/tool'
import { boot, type Harness } from 'cordage'
import retry from '@cordage/policy-retry'

const key: keyof Services = 'tools'
export const plugin = definePlugin({ name: 'typed', inject: [key], apply: (ctx) => void ctx.tools })
export const started: Promise<Harness> = boot({ profile: 'sdk-minimal' })
export const name: string = retry.name
// @ts-expect-error a service that is not injected
definePlugin({ name: 'wrong', apply: (ctx) => void ctx.tools })
`
