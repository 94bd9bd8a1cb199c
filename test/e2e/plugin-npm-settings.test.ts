import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runCli } from './fixture/cli.ts'
import { writeTarball } from './fixture/package.ts'
import { makePlace } from './fixture/place.ts'
import { startRegistry } from './fixture/registry.ts'

it('adds a plugin by the settings of npm for all users, which name registry and proxy', async () => {
  await using place = await makePlace('empty')
  await using registry = await startRegistry()
  await registry.publish('1.0.0', await writeTarball(place))
  // Where npm is installed, for this test.
  const prefix = join(place.base, 'usr')
  await mkdir(join(prefix, 'etc'), { recursive: true })
  await writeFile(join(prefix, 'etc/npmrc'), `registry=${registry.url}\n`)
  const args = ['plugin', 'add', 'cordage-hello']
  const { code, stderr } = await runCli(place, args, { env: { PREFIX: prefix } })
  expect(code, stderr).toBe(0)
})
