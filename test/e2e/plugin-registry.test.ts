import { createHash } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { basename } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCli } from './fixture/cli.ts'
import { HELLO, writeTarball } from './fixture/package.ts'
import { makePlace } from './fixture/place.ts'

interface Registry extends AsyncDisposable {
  readonly url: string
  publish(version: string, tarball: string): Promise<void>
}

/** What npm asks a registry of one package, `cordage-hello`. */
async function startRegistry(): Promise<Registry> {
  const tarballs = new Map<string, Buffer>()
  const versions: Record<string, unknown> = {}
  let latest = ''
  const server: Server = createServer(({ url = '' }, response) => {
    const tarball = tarballs.get(basename(url))
    const packument = { name: 'cordage-hello', 'dist-tags': { latest }, versions }
    if (url !== '/cordage-hello' && tarball === undefined) response.statusCode = 404
    response.end(tarball ?? JSON.stringify(packument))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    async publish(version, file) {
      const bytes = await readFile(file)
      tarballs.set(basename(file), bytes)
      const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`
      const dist = { tarball: `${url}/${basename(file)}`, integrity }
      versions[version] = { name: 'cordage-hello', version, dist }
      latest = version
    },
    [Symbol.asyncDispose]: () => new Promise((done) => server.close(() => done())),
  }
}

describe('a plugin from a registry', () => {
  it('is added by its name, and an update says what it changes', async () => {
    await using place = await makePlace('empty')
    await using registry = await startRegistry()
    const env = { npm_config_registry: registry.url }
    const plugin = async (...args: string[]) => runCli(place, ['plugin', ...args], { env })
    await registry.publish('1.0.0', await writeTarball(place))
    const added = await plugin('add', 'cordage-hello')
    expect(added, added.stderr).toMatchObject({ code: 0 })
    expect((await plugin('update')).stdout).toBe('cordage-hello 1.0.0 is as it was.\n')

    const next = { version: '2.0.0', files: { 'index.js': HELLO } }
    const cordage = { uses: ['net:example.com'] }
    await registry.publish('2.0.0', await writeTarball(place, { ...next, cordage }))
    const dry = await plugin('update', '--dry-run')
    expect(dry.stdout).toMatch(/version: 1\.0\.0 -> 2\.0\.0\n {2}uses: \+net:example\.com/)
    expect((await plugin('update', 'cordage-hello')).code).toBe(0)
    const { stdout } = await plugin('list', '--output', 'json')
    expect(JSON.parse(stdout)).toMatchObject([{ version: '2.0.0', state: 'active' }])

    // A version that does not fit is refused, and the one before it stays.
    const unfit = { version: '3.0.0', cordage: { api: '^9.0.0' } }
    await registry.publish('3.0.0', await writeTarball(place, unfit))
    const refused = await plugin('update')
    expect(refused).toMatchObject({ code: 78, stderr: expect.stringContaining('api ^9.0.0') })
    const after = await plugin('list', '--output', 'json')
    expect(JSON.parse(after.stdout)).toMatchObject([{ version: '2.0.0', state: 'active' }])

    const unknown = await plugin('add', 'cordage-nothing')
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('404') })
  })
})
