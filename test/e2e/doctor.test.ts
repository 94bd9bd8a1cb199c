import { chmodSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type CliOptions } from './fixture/cli.ts'
import { makePlace, type Place } from './fixture/place.ts'
import { runCli } from './fixture/warm-cli.ts'

interface Check {
  readonly what: string
  readonly state: string
  readonly detail: string
}

async function doctor(place: Place, args: string[] = [], options: CliOptions = {}) {
  const ended = await runCli(place, [...args, 'doctor', '--output', 'json'], options)
  const checks = JSON.parse(ended.stdout) as Check[]
  const find = (what: string) => checks.find((check) => check.what === what)
  return { ...ended, checks, find }
}

/** A server that answers every request for the list of models with `answer`. */
async function server(answer: (response: ServerResponse) => void) {
  let asked = 0
  const http = createServer((request, response) => {
    asked += 1
    expect(request.url).toBe('/v1/models')
    answer(response)
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/v1`
  const close = async () => {
    http.closeAllConnections()
    http.close()
  }
  return { url, asked: () => asked, [Symbol.asyncDispose]: close }
}

const json = (status: number, body: object) => (response: ServerResponse) => {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

/** A server that hangs costs five seconds. */
const SOON = { timeout: 60_000 }

describe('doctor', () => {
  it('lists skills that cannot be used, and instructions for which there is no room', async () => {
    await using place = await makePlace('empty')
    const at = (name: string) => join(place.project, name)
    await mkdir(at('.agents/skills'), { recursive: true })
    await mkdir(at('.cordage/skills'), { recursive: true })
    await mkdir(at('.git'))
    const skill = '---\nname: notes\ndescription: Writes notes.\n---\nWrite.\n'
    await writeFile(at('.cordage/skills/notes.md'), skill)
    await writeFile(at('.agents/skills/notes.md'), skill)
    await writeFile(at('.agents/skills/broken.md'), 'no front\n')
    await writeFile(at('AGENTS.md'), 'Be kind.\n'.repeat(4_000))
    await writeFile(at('CLAUDE.md'), 'Be brief.\n'.repeat(8_000))
    const { checks } = await doctor(place)
    const files = checks.filter(({ what }) => what === 'file')
    expect(files.map(({ state }) => state)).toEqual(Array(4).fill('partial'))
    const said = files.map(({ detail }) => detail.replaceAll(place.project, '')).sort()
    expect(said[0]).toMatch(/^\/\.agents\/skills\/broken\.md: /)
    expect(said.slice(1)).toEqual([
      `/.agents/skills/notes.md: /.cordage/skills/notes.md has its name`,
      '/AGENTS.md: left out: the files of its place take more than 65536 bytes',
      '/CLAUDE.md: cut: the files of its place take more than 65536 bytes',
    ])
  })

  it('says what there is, asks each route that has a key, and ends with 0', async () => {
    await using place = await makePlace('empty')
    chmodSync(place.home, 0o700)
    await using good = await server(json(200, { data: [{ id: 'a' }, { id: 'b' }] }))
    const env = { OPENAI_BASE_URL: good.url, OPENAI_API_KEY: 'sk-0123456789abcdef' }
    const { code, find, checks, stdout } = await doctor(place, [], { env })
    expect(code, stdout).toBe(0)
    const what = ['cordage', 'node', 'home', 'disk', 'kept keys', 'log', 'ports', 'sessions']
    expect(checks.map((check) => check.what)).toEqual(
      expect.arrayContaining([...what, 'file gate', 'commands', 'model', 'rows']),
    )
    expect(find('OpenAI')?.detail).toBe(
      'OPENAI_API_KEY of the environment; the server lists 2 models',
    )
    expect(find('model')?.detail).toBe('openai/gpt-5.5')
    expect(find('commands')).toMatchObject({ state: 'partial' })
    expect(find('DeepSeek')).toMatchObject({ state: 'missing' })
    expect(good.asked()).toBe(1)
    expect(stdout).not.toContain('0123456789')
  })

  it(
    'ends with 1 for a refused key, a server that is not there and one that hangs',
    SOON,
    async () => {
      await using place = await makePlace('empty')
      await using refusing = await server(json(401, { error: { type: 'authentication_error' } }))
      await using hanging = await server(() => {})
      const env = {
        DEEPSEEK_BASE_URL: refusing.url,
        DEEPSEEK_API_KEY: 'sk-0123456789abcdef',
        OPENAI_BASE_URL: hanging.url,
        ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
      }
      const { code, find } = await doctor(place, [], { env })
      expect(find('DeepSeek')).toMatchObject({
        state: 'failed',
        detail: expect.stringMatching(/refused/),
      })
      expect(find('OpenAI')?.detail).toMatch(/did not answer within 5 s/)
      expect(find('Anthropic')?.detail).toMatch(/could not be reached/)
      expect(code).toBe(1)
      const offline = await runCli(place, ['doctor', '--offline'], { env })
      expect(offline.stdout).toMatch(/ok +DeepSeek +DEEPSEEK_API_KEY of the environment; not tried/)
      expect(offline.code).toBe(0)
    },
  )

  it('takes a server without a list of models for what it is', async () => {
    await using place = await makePlace('empty')
    await using bare = await server(json(404, { detail: 'Not Found' }))
    const { code, find } = await doctor(place, [], { env: { OPENAI_BASE_URL: bare.url } })
    expect(find('OpenAI')).toMatchObject({
      state: 'partial',
      detail: expect.stringMatching(/lists no models/),
    })
    expect(code).toBe(0)
  })

  it('ends with 1 for keys and a home that others get at, with the commands that help', async () => {
    await using place = await makePlace('empty')
    const file = join(place.home, 'credentials.yml')
    await writeFile(file, 'DEEPSEEK_API_KEY: sk-0123456789abcdef\n', { mode: 0o644 })
    chmodSync(place.home, 0o777)
    const { code, find, stderr } = await doctor(place)
    expect(find('kept keys')?.detail).toContain(`chmod 600 ${file}`)
    expect(find('home')).toMatchObject({
      state: 'failed',
      detail: expect.stringMatching(/chmod 700/),
    })
    expect(find('model')).toMatchObject({ state: 'failed' })
    expect(code, stderr).toBe(1)
  })

  it('names a row that is not there and why, and ends with 1', async () => {
    await using place = await makePlace('empty')
    const patch = join(place.base, 'broken.yml')
    await writeFile(
      join(place.base, 'broken.mjs'),
      'export default { apply() { throw Error("no luck") } }',
    )
    await writeFile(patch, '- insert: [{ id: broken, name: ./broken.mjs, optional: true }]\n')
    const { code, find } = await doctor(place, ['--patch', patch])
    expect(find('broken')).toMatchObject({
      state: 'failed',
      detail: expect.stringMatching(/quarantined.*no luck/),
    })
    expect(code).toBe(1)
  })

  it('ends with 78 when nothing can start, and still says what it knows', async () => {
    await using place = await makePlace('empty')
    const patch = join(place.base, 'bad.yml')
    await writeFile(patch, '- { id: tool-bahs, disabled: true }\n')
    const { code, find, stderr } = await doctor(place, ['--patch', patch])
    expect(find('node')).toMatchObject({ state: 'ok' })
    expect(find('start')?.detail).toMatch(/bad\.yml:1: There is no row "tool-bahs"/)
    expect(stderr).toContain('bad.yml:1')
    expect(code).toBe(78)
  })
})

describe('a proxy of the environment', () => {
  it('is named by doctor, and one without an address is refused without its value', async () => {
    await using place = await makePlace('empty')
    const doctor = (HTTPS_PROXY: string) =>
      runCli(place, ['doctor', '--offline'], { env: { HTTPS_PROXY } })
    const good = await doctor('http://someone:secret@127.0.0.1:9')
    expect(good.stdout).toMatch(/^ok +proxy +requests go through that of HTTPS_PROXY$/m)
    const bad = await doctor('someone:secret@proxy')
    expect(bad.stderr).toMatch(/^cordage: HTTPS_PROXY is no address of a proxy.*PROXY_INVALID/)
    expect(bad.code).toBe(78)
    for (const { stdout, stderr } of [good, bad]) expect(stdout + stderr).not.toContain('secret')
  })
})
