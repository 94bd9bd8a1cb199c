import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { needs } from '../fixture/needs.ts'
import { cleanEnv, runCli } from './fixture/cli.ts'
import { cordageBin } from './fixture/installation.ts'
import { makePlace, type Place } from './fixture/place.ts'

const key = 'sk-0123456789abcdefWXYZ'
const fileIn = (place: Place) => join(place.home, 'credentials.yml')
const setKey = (place: Place, stdin: string, target = 'deepseek') =>
  runCli(place, ['auth', 'set', target], { stdin })
const keys = (place: Place, env: Record<string, string> = {}) =>
  runCli(place, ['auth', 'list', '--output', 'json'], { env })

/** A server that takes `key` and nothing else, and streams one word of Chat Completions. */
async function gateway() {
  const seen: string[] = []
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers.authorization}`)
    if (request.headers.authorization !== `Bearer ${key}`) {
      response.writeHead(401, { 'content-type': 'application/json' })
      return void response.end('{ "error": { "type": "authentication_error" } }')
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const choice = { index: 0, delta: { content: 'ready' }, finish_reason: 'stop' }
    response.end(`data: ${JSON.stringify({ choices: [choice] })}\n\ndata: [DONE]\n\n`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  return { url, seen, [Symbol.asyncDispose]: async () => void server.close() }
}

describe('auth set', () => {
  it('keeps what is piped in, for its owner only, and shows no more than its end', async () => {
    await using place = await makePlace('empty')
    const { code, stdout, stderr } = await setKey(place, `${key}\n`)
    expect(code, stderr).toBe(0)
    expect(stderr).toContain('DEEPSEEK_API_KEY (…WXYZ)')
    expect(stdout + stderr).not.toContain(key)
    expect(readFileSync(fileIn(place), 'utf8')).toBe(`DEEPSEEK_API_KEY: ${key}\n`)
    expect(statSync(fileIn(place)).mode & 0o777).toBe(0o600)
    expect(readdirSync(place.home).filter((name) => name.startsWith('credentials'))).toHaveLength(1)
  })

  it('changes one key, leaves the others and what people wrote about them', async () => {
    await using place = await makePlace('empty')
    const before = '# of the team\nOPENAI_API_KEY: 12345678 # a number\n'
    await writeFile(fileIn(place), before, { mode: 0o600 })
    await setKey(place, key, 'SOME_API_KEY')
    expect(readFileSync(fileIn(place), 'utf8')).toBe(`${before}SOME_API_KEY: ${key}\n`)
    expect((await runCli(place, ['auth', 'remove', 'SOME_API_KEY'])).code).toBe(0)
    expect(readFileSync(fileIn(place), 'utf8')).toBe(before)
    expect((await runCli(place, ['auth', 'remove', 'SOME_API_KEY'])).code).toBe(1)
    const [listed] = JSON.parse((await keys(place)).stdout) as unknown[]
    expect(listed).toMatchObject({ name: 'OPENAI_API_KEY', end: '…', routes: ['openai'] })
  })

  it('keeps every key of many that are set at the same time', async () => {
    await using place = await makePlace('empty')
    const names = Array.from({ length: 6 }, (_, i) => `KEY_${i}`)
    const ended = await Promise.all(names.map((name) => setKey(place, `${key}${name}`, name)))
    expect(ended.map(({ code }) => code)).toEqual(names.map(() => 0))
    const kept = readFileSync(fileIn(place), 'utf8').trim().split('\n').sort()
    expect(kept).toEqual(names.map((name) => `${name}: ${key}${name}`))
  })

  it('is not stopped by what somebody who was killed left there', async () => {
    await using place = await makePlace('empty')
    await writeFile(`${fileIn(place)}.new`, 'half: a', { mode: 0o600 })
    await writeFile(`${fileIn(place)}.lock`, '999999999 dead', { mode: 0o600 })
    expect((await setKey(place, key)).code).toBe(0)
    expect(readFileSync(fileIn(place), 'utf8')).toBe(`DEEPSEEK_API_KEY: ${key}\n`)
    expect(readdirSync(place.home).filter((name) => name.startsWith('credentials'))).toHaveLength(1)
  })

  it('refuses what is more than a key with the reason, not the value', async () => {
    await using place = await makePlace('empty')
    const { code, stderr } = await setKey(place, `Bearer ${key}\n`)
    expect(stderr).toMatch(/Nothing was kept for DEEPSEEK_API_KEY: it begins like a header/)
    expect(stderr).not.toContain('456789')
    expect(code).toBe(2)
    expect(readdirSync(place.home)).not.toContain('credentials.yml')
  })

  it('takes no key from the command line, no address and no misspelt provider', async () => {
    await using place = await makePlace('empty')
    const given = await runCli(place, ['auth', 'set', 'deepseek', key])
    expect(given.stderr).toMatch(/history of the shell.*cordage auth set deepseek < file/)
    expect(given.stderr).not.toContain(key)
    const address = await setKey(place, key, 'OPENAI_BASE_URL')
    expect(address.stderr).toMatch(/OPENAI_BASE_URL is an address and no secret/)
    const misspelt = await setKey(place, key, 'deepsek')
    expect(misspelt.stderr).toMatch(/no provider "deepsek"\. Did you mean deepseek\?/)
    expect([given.code, address.code, misspelt.code]).toEqual([2, 2, 2])
    expect(readdirSync(place.home)).not.toContain('credentials.yml')
  })

  it('reads a key in a terminal without showing it, and Ctrl-C keeps nothing', async (test) => {
    needs(test, 'script')
    await using place = await makePlace('empty')
    const typed = await inTerminal(place, `${key}x\u007f\r`)
    expect(typed.text).toContain('(it is not shown)')
    expect(typed.text).not.toContain('0123456789')
    expect(typed.code).toBe(0)
    expect(readFileSync(fileIn(place), 'utf8')).toBe(`DEEPSEEK_API_KEY: ${key}\n`)
    const other = await makePlace('empty')
    expect((await inTerminal(other, `${key}\u0003`)).code).toBe(130)
    expect(readdirSync(other.home)).not.toContain('credentials.yml')
    await other[Symbol.asyncDispose]()
  })
})

/** `auth set deepseek` in a terminal of its own, in which somebody types `input` when asked. */
async function inTerminal(place: Place, input: string) {
  const command = `'${process.execPath}' '${cordageBin}' auth set deepseek`
  const child = spawn('script', ['-qec', command, '/dev/null'], { env: cleanEnv(place) })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  for (let tries = 0; tries < 1000 && !text.includes('shown'); tries++) await sleep(20)
  child.stdin.write(input)
  const [code] = (await once(child, 'close')) as [number]
  return { text, code }
}

describe('a file of keys', () => {
  it.each([
    ['others may read it', (file: string) => chmodSync(file, 0o640), /mode 0640.*chmod 600 /],
    ['others may write it', (file: string) => chmodSync(file, 0o602), /mode 0602.*chmod 600 /],
  ])('is refused where %s, with the command that mends it', async (_, spoil, reason) => {
    await using place = await makePlace('empty')
    await setKey(place, key)
    spoil(fileIn(place))
    for (const args of [['auth', 'list'], ['auth', 'set', 'openai'], ['do it']]) {
      const { code, stderr } = await runCli(place, args, { stdin: key })
      expect(stderr).toMatch(reason)
      expect(stderr).not.toContain('0123456789')
      expect(code).toBe(78)
    }
    const remedy = /chmod 600 \S+\.yml/.exec((await keys(place)).stderr)?.[0] ?? ''
    execFileSync('sh', ['-c', remedy])
    expect((await keys(place)).code).toBe(0)
  })

  it('is refused where it is a link, a folder or a pipe', async () => {
    await using place = await makePlace('empty')
    await setKey(place, key)
    const elsewhere = join(place.base, 'elsewhere.yml')
    await rename(fileIn(place), elsewhere)
    symlinkSync(elsewhere, fileIn(place))
    expect(await keys(place)).toMatchObject({
      code: 78,
      stderr: expect.stringMatching(/symbolic link/),
    })
    await rename(fileIn(place), join(place.base, 'link'))
    await mkdir(fileIn(place))
    expect(await keys(place)).toMatchObject({ code: 78 })
    await rename(fileIn(place), join(place.base, 'folder'))
    execFileSync('mkfifo', ['-m', '600', fileIn(place)])
    expect((await keys(place)).stderr).toContain('it is not a file')
  })

  it('is refused where it belongs to somebody else', async (test) => {
    needs(test, 'the rights of root')
    await using place = await makePlace('empty')
    await setKey(place, key)
    chownSync(fileIn(place), 65_534, 65_534)
    const { code, stderr } = await keys(place)
    expect(stderr).toMatch(/belongs to another user \(65534/)
    expect(code).toBe(78)
  })

  it('that is no mapping of texts is named with its line and without its content', async () => {
    await using place = await makePlace('empty')
    for (const text of [`A_KEY: ok\nB_KEY: [${key}\n`, `- ${key}\n`, `A_KEY: { b: ${key} }\n`]) {
      await writeFile(fileIn(place), text, { mode: 0o600 })
      const { code, stderr } = await keys(place)
      expect(stderr).toMatch(/credentials\.yml:\d+: .*CREDENTIAL_FILE_INVALID/)
      expect(stderr).not.toContain(key)
      expect(code).toBe(78)
    }
  })

  it('is not needed by who has the key in the environment or uses no key', async () => {
    await using place = await makePlace('empty')
    await writeFile(fileIn(place), `DEEPSEEK_API_KEY: ${key}\n`, { mode: 0o644 })
    const args = ['--model', 'scripted/fix-a-bug', '--max-steps', '1', 'task']
    expect((await runCli(place, args)).code).toBe(124)
    await using server = await gateway()
    const env = { DEEPSEEK_API_KEY: key, DEEPSEEK_BASE_URL: server.url }
    expect((await runCli(place, ['models', 'test', '--only', 'text'], { env })).code).toBe(0)
  })
})

describe('auth list', () => {
  it('says where a key comes from: the environment hides the file', async () => {
    await using place = await makePlace('empty')
    await setKey(place, key)
    const env = { DEEPSEEK_API_KEY: 'sk-of-the-environment-LAST' }
    const { stdout } = await keys(place, env)
    expect(JSON.parse(stdout)).toEqual([
      {
        name: 'DEEPSEEK_API_KEY',
        source: 'environment',
        end: '…LAST',
        routes: ['deepseek'],
        hidden: true,
      },
    ])
    expect(stdout).not.toContain('environment-')
  })

  it('never sees what a project keeps in its .env, and no run does', async () => {
    await using place = await makePlace('empty')
    for (const folder of [place.project, place.home]) {
      await writeFile(join(folder, '.env'), `DEEPSEEK_API_KEY=${key}\nNODE_OPTIONS=--bad\n`)
    }
    expect(JSON.parse((await keys(place)).stdout)).toEqual([])
    const { code, stderr } = await runCli(place, ['do it'])
    expect(stderr).toContain('[CREDENTIAL_NONE]')
    expect(code).toBe(78)
  })
})

describe('auth test', () => {
  it('sends one request with the kept key, and 77 says that it is refused', async () => {
    await using place = await makePlace('empty')
    await using server = await gateway()
    const env = { DEEPSEEK_BASE_URL: server.url }
    await setKey(place, key)
    for (const target of ['deepseek', 'DEEPSEEK_API_KEY']) {
      const { code, stdout } = await runCli(place, ['auth', 'test', target], { env })
      expect(stdout).toMatch(/^ok +deepseek +deepseek-v4-flash answered in \d+ ms\n$/)
      expect(code).toBe(0)
    }
    expect(server.seen).toEqual(Array(2).fill(`POST /v1/chat/completions Bearer ${key}`))
    await setKey(place, 'sk-another-one-0123456789')
    const { code, stdout } = await runCli(place, ['auth', 'test', 'deepseek'], { env })
    expect(stdout).toMatch(/^failed +deepseek .*\[AUTH\]/)
    expect(stdout).not.toContain('0123456789')
    expect(code).toBe(77)
  })

  it('says how to give a key that is not there', async () => {
    await using place = await makePlace('empty')
    const { code, stdout } = await runCli(place, ['auth', 'test', 'openai'])
    expect(stdout).toMatch(/cordage auth set OPENAI_API_KEY/)
    expect(code).toBe(78)
  })
})

describe('a kept key', () => {
  it('is used by a run, and hidden in the log, the session and the terminal', async () => {
    await using place = await makePlace('empty')
    await using server = await gateway()
    await setKey(place, key)
    const env = { DEEPSEEK_BASE_URL: server.url }
    const { code, stdout, stderr } = await runCli(place, ['--debug', 'say ready'], { env })
    expect(code, stderr).toBe(0)
    expect(stdout).toBe('ready\n')
    const found = execFileSync('grep', ['-rlF', key, place.home, place.project], {
      encoding: 'utf8',
    })
    expect(found).toBe(`${fileIn(place)}\n`)
    expect(stderr).not.toContain(key)
  })
})
