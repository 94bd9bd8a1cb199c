import { describe, expect, it } from 'vitest'
import { runCli } from './fixture/cli.ts'
import { HELLO, writeTarball } from './fixture/package.ts'
import { makePlace } from './fixture/place.ts'
import { startRegistry } from './fixture/registry.ts'

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
