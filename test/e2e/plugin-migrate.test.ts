import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writePackage } from './fixture/package.ts'
import { makePlace, type Place } from './fixture/place.ts'
import { runCli } from './fixture/warm-cli.ts'

const WEATHER = `import { definePlugin } from '@cordage/core/kernel'
import { z } from 'zod'
export default definePlugin({
  name: 'weather',
  config: z.strictObject({ timeoutMs: z.number().default(1000), units: z.string().default('C') }),
  configVersion: 2,
  migrate: {
    2: { rename: { timeout: 'timeoutMs' }, convert: { timeoutMs: (seconds) => seconds * 1000 } },
  },
  apply: () => {},
})
`

async function installWeather(place: Place, home: string): Promise<string> {
  const layer = "- insert: [{ id: weather, name: './index.js' }]\n"
  const files = { 'index.js': WEATHER }
  const folder = await writePackage(place, { name: 'weather', version: '2.0.0', layer, files })
  await runCli(place, ['plugin', 'add', folder])
  const file = join(place.home, 'cordis.patch.yml')
  await writeFile(file, home, { mode: 0o600 })
  return file
}

describe('config migrate', () => {
  it('renames what a plugin renamed, with comments and rights as they were', async () => {
    await using place = await makePlace('empty')
    const file = await installWeather(
      place,
      '# my weather\n- id: weather\n  merge:\n    timeout: 3 # is enough\n    units: !env "UNITS ?? F"\n',
    )
    const before = await runCli(place, ['config', 'check'])
    expect(before.stdout).toMatch(/weather: quarantined.*config\.timeout: unknown key/)

    const dry = await runCli(place, ['config', 'migrate', '--dry-run'])
    expect(dry.stdout).toContain(`${file} would be migrated.`)
    expect(await readFile(file, 'utf8')).toContain('timeout: 3 # is enough')

    const { code, stdout, stderr } = await runCli(place, ['config', 'migrate'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toBe(`weather: timeout is timeoutMs
weather: timeoutMs is 3000, was 3
${file} is migrated.
`)
    expect(await readFile(file, 'utf8')).toBe(`# my weather
- id: weather
  merge:
    timeoutMs: 3000 # is enough
    units: !env "UNITS ?? F"
  configVersion: 2
`)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const after = await runCli(place, ['config', 'check', '--output', 'json'])
    expect(JSON.parse(after.stdout)).toMatchObject({ problems: [], refused: [] })
    const again = await runCli(place, ['config', 'migrate'])
    expect(again).toMatchObject({ code: 0, stdout: `${file} is up to date.\n` })
  })

  it('writes nothing that would not compose', async () => {
    await using place = await makePlace('empty')
    const text = '- id: weather\n  optional: false\n  merge: { timeout: 3, unit: F }\n'
    const file = await installWeather(place, text)
    const { code, stderr } = await runCli(place, ['config', 'migrate'])
    expect(stderr).toMatch(
      /would not compose.*cordis\.patch\.yml:3.*config\.unit.*Did you mean units/,
    )
    expect(code).toBe(78)
    expect(await readFile(file, 'utf8')).toBe(text)
  })

  it('has nothing to do where there is no layer of a person', async () => {
    await using place = await makePlace('empty')
    const { code, stdout } = await runCli(place, ['config', 'migrate'])
    expect(stdout).toMatch(/There is no .*cordis\.patch\.yml; nothing to migrate/)
    expect(code).toBe(0)
  })
})
