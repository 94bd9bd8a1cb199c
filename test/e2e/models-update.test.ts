import { existsSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startModelPeer } from '../../packages/kit/testkit/src/model-peer.ts'
import { makePlace, type Place } from './fixture/place.ts'
import { runCli } from './fixture/warm-cli.ts'

const catalogue = `# a comment that stays
date: 2099-01-01
providers:
  openai:
    - { id: gpt-9, contextWindow: 2000000, price: { input: 1, output: 2 } }
  other: [{ id: unused }]
`

async function modelsOf(place: Place, provider: string, args: string[] = []) {
  const { stdout } = await runCli(place, [...args, 'models', 'list', '--output', 'json'])
  const list = JSON.parse(stdout) as { name: string; contextWindow: number }[]
  return list.filter(({ name }) => name.startsWith(`${provider}/`))
}

describe('models update', () => {
  it('puts a catalogue into the home, from a file or an address, and takes it back', async () => {
    await using place = await makePlace('empty')
    const kept = join(place.home, 'models.yml')
    const shipped = await modelsOf(place, 'openai')
    const file = join(place.base, 'new.yml')
    await writeFile(file, catalogue)
    const { code, stdout } = await runCli(place, ['models', 'update', file])
    expect(code).toBe(0)
    expect(stdout).toBe(`${kept} is in use: 2 models of 2 providers, as of 2099-01-01.\n`)
    expect(readFileSync(kept, 'utf8')).toBe(catalogue)
    expect(await modelsOf(place, 'openai')).toMatchObject([
      { name: 'openai/gpt-9', contextWindow: 2_000_000, price: { input: 1, output: 2 } },
    ])
    expect(await modelsOf(place, 'deepseek')).toHaveLength(2)
    expect(await modelsOf(place, 'openai', ['--safe'])).toEqual(shipped)

    expect((await runCli(place, ['models', 'update', '--reset'])).code).toBe(0)
    expect(existsSync(kept)).toBe(false)
    expect(await modelsOf(place, 'openai')).toEqual(shipped)

    const peer = await startModelPeer()
    peer.reply((response) => response.end(catalogue))
    expect((await runCli(place, ['models', 'update', `${peer.url}/models.yml`])).code).toBe(0)
    expect(readFileSync(kept, 'utf8')).toBe(catalogue)
    expect(peer.requests).toHaveLength(1)
    await peer.close()
  })

  it('takes nothing that cannot be used, and leaves what was known', async () => {
    await using place = await makePlace('empty')
    const file = join(place.base, 'new.yml')
    const good = catalogue
    const cases = [
      ['date: 2099-01-01\nproviders: { openai: [{ id: a, contextWindow: no }] }', 'contextWindow'],
      ['date: 2099-01-01\nproviders: { openai: [{ id: a, baseURL: x }] }', 'baseURL'],
      ['date: 2099-01-01\nproviders: { OpenAI: [] }', 'OpenAI'],
      ['- insert: []', 'it is a list'],
      ['date: 2001-01-01\nproviders: {}', 'the one that ships is of 2026-11-30'],
      ['date: 2099-01-01\nproviders: { openai: [{ id: !env HOME }] }', 'openai.0.id'],
    ] as const
    await writeFile(file, good)
    await runCli(place, ['models', 'update', file])
    for (const [text, expected] of cases) {
      await writeFile(file, text)
      const { code, stderr } = await runCli(place, ['models', 'update', file])
      expect(stderr).toContain(expected)
      expect(stderr).toContain('[CATALOGUE_REFUSED]')
      expect(code).toBe(1)
    }
    for (const from of ['missing.yml', 'http://127.0.0.1:9/models.yml']) {
      const { stderr } = await runCli(place, ['models', 'update', from])
      expect(stderr).toContain('[CATALOGUE_REFUSED]')
    }
    expect(readFileSync(join(place.home, 'models.yml'), 'utf8')).toBe(good)
    expect((await runCli(place, ['models', 'update'])).code).toBe(2)
  })

  it('is not needed: a home with a broken one says where, and starts with --safe', async () => {
    await using place = await makePlace('empty')
    await writeFile(join(place.home, 'models.yml'), 'date: 2099-01-01\nproviders: 3\n')
    const { code, stderr } = await runCli(place, ['models', 'list'])
    expect(stderr).toMatch(/models\.yml:1: The file is no catalogue of models.*CATALOGUE_INVALID/)
    expect(code).toBe(78)
    expect((await runCli(place, ['--safe', 'models', 'list'])).code).toBe(0)
  })
})
