import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, realpathSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cleanEnv } from '../e2e/fixture/cli.ts'
import { makePlace, repository } from '../e2e/fixture/place.ts'

const run = promisify(execFile)
const tarballs = join(repository, 'dist-tarballs')
const index = JSON.parse(readFileSync(join(tarballs, 'index.json'), 'utf8')) as Index
const nodes = [process.execPath, ...(process.env['CORDAGE_NODES'] ?? '').split(delimiter)]

type Index = Readonly<Record<string, { file: string }>>

/** Asks npm under the Node that it came with, beside which its settings for all users are. */
function settingOfNpm(name: string): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const PATH = folders.filter((one) => !one.includes('node_modules/.bin')).join(delimiter)
  const options = { env: { PATH, HOME: process.env['HOME'] }, encoding: 'utf8' } as const
  return execFileSync('npm', ['config', 'get', name], options).trim()
}

let server: ChildProcess
let registry: string
beforeAll(async () => {
  const upstream = process.env['npm_config_registry'] ?? settingOfNpm('registry')
  const script = join(repository, 'scripts/pack/registry.mjs')
  server = spawn(process.execPath, [script, upstream, ...Object.keys(index)])
  const [line] = await once(server.stdout!.setEncoding('utf8'), 'data')
  registry = String(line).trim()
})
afterAll(() => server.kill())

/** What npm sends for a tarball, but for what it says of its contents; gives the status. */
async function publish(name: string): Promise<number> {
  const { file = '' } = index[name] ?? {}
  const packed = ['-xzOf', join(tarballs, file), 'package/package.json']
  const manifest = JSON.parse(execFileSync('tar', packed, { encoding: 'utf8' })) as {
    version: string
  }
  const { version } = manifest
  const dist = { tarball: `${registry}${name}/-/${file}` }
  const data = readFileSync(join(tarballs, file), 'base64')
  const body = JSON.stringify({
    name,
    'dist-tags': { latest: version },
    versions: { [version]: { ...manifest, dist } },
    _attachments: { [file]: { data } },
  })
  return (await fetch(registry + name.replace('/', '%2f'), { method: 'PUT', body })).status
}

describe('what would be published', () => {
  it('comes after what it needs, in the order of its index', async () => {
    const names = Object.keys(index)
    expect(await publish('cordage')).toBe(409)
    for (const name of names) expect([name, await publish(name)]).toEqual([name, 201])
  })

  it.each(nodes)('is installed by the name of cordage under %s, by npm alone', async (node) => {
    await using place = await makePlace('empty')
    await writeFile(join(place.project, 'package.json'), '{ "private": true }')
    const npm = realpathSync(execFileSync('which', ['npm'], { encoding: 'utf8' }).trim())
    const PATH = `${dirname(node)}:${process.env['PATH']}`
    const env = cleanEnv(place, { PATH, npm_config_globalconfig: settingOfNpm('globalconfig') })
    const options = { cwd: place.project, env }
    const quiet = ['--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline']
    const cache = ['--cache', settingOfNpm('cache')]
    await run(
      node,
      [npm, 'install', 'cordage', '--registry', registry, ...quiet, ...cache],
      options,
    )
    const cordage = join(place.project, 'node_modules/cordage/bin/cordage.js')
    const { stdout } = await run(node, [cordage, 'config', 'check'], options)
    expect(stdout).toContain('would start')
  })
})
