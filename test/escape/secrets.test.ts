import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startModelPeer } from '../../packages/kit/testkit/src/model-peer.ts'
import { runCli } from '../e2e/fixture/cli.ts'
import { readLog, sessionIds } from '../e2e/fixture/read-log.ts'
import { needs } from '../fixture/needs.ts'
import { attack, call, KEY, makeTrap, SECRET } from './attack.ts'

/** Every file below a folder as text, logs inflated. */
function everythingIn(folder: string): string {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.startsWith('cache'))
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
  return files.map((path) => readFileSync(path, 'latin1')).join('\n')
}

describe('a key in the environment of the command line', () => {
  it('is not in the environment of a command, nor in anything that is kept', async () => {
    await using trap = await makeTrap()
    const more = { GITHUB_TOKEN: 'ghp_0123456789abcdefghij', DB_PASSWORD: 'hunter2hunter2' }
    const asks = [call('bash', { command: 'env; echo "key=$OPENAI_API_KEY"; echo HOME=$HOME' })]
    const { outcomes, facts, stderr } = await attack(trap, 'workspace-write', asks, more)
    expect(outcomes[0]?.text).toContain('HOME=')
    const texts = [JSON.stringify(facts), stderr, everythingIn(trap.home)]
    for (const secret of [KEY, ...Object.values(more)]) {
      expect(texts.filter((text) => text.includes(secret))).toEqual([])
    }
  })

  it('is hidden where a command prints it all the same', async () => {
    await using trap = await makeTrap()
    await writeFile(join(trap.project, 'leak.txt'), `the key is ${KEY}\n`)
    const asks = [
      call('read', { file_path: 'leak.txt' }),
      call('bash', { command: 'cat leak.txt' }),
      call('grep', { pattern: 'the key', path: '.' }),
    ]
    const { outcomes, facts, stderr } = await attack(trap, 'workspace-write', asks)
    expect(outcomes.map(({ text }) => text.includes('the key is'))).toEqual([true, true, true])
    const texts = [JSON.stringify(facts), stderr, everythingIn(trap.home)]
    expect(texts.filter((text) => text.includes(KEY))).toEqual([])
  })

  it('is not repeated when a server repeats it', async () => {
    await using trap = await makeTrap()
    const peer = await startModelPeer()
    try {
      peer.reply((response, { headers }) => {
        const message = `You sent ${headers.authorization}, which is wrong`
        response.writeHead(401, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ error: { message, code: 'invalid_api_key' } }))
      })
      const env = { OPENAI_BASE_URL: `${peer.url}/v1`, OPENAI_API_KEY: KEY }
      const { code, stdout, stderr } = await runCli(trap, ['--debug', 'Go'], { env })
      expect(code).toBe(77)
      expect(peer.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`)
      const [id = ''] = sessionIds(trap.home)
      const facts = JSON.stringify(readLog(trap.home, id))
      expect(facts).toContain('attempt/failed')
      const texts = [facts, stdout, stderr, everythingIn(trap.home)]
      expect(texts.filter((text) => text.includes(KEY))).toEqual([])
    } finally {
      await peer.close()
    }
  })
})

describe('searches from above', () => {
  it('neither show nor name what may not be read', async () => {
    await using trap = await makeTrap()
    await writeFile(join(trap.outside, 'public.txt'), 'TOP-SECRET is only a word here\n')
    const asks = [
      call('grep', { pattern: 'TOP-SECRET', path: trap.base }),
      call('grep', { pattern: 'TOP-SECRET', path: trap.user }),
      call('glob', { pattern: '**/*', path: trap.base }),
    ]
    const { outcomes } = await attack(trap, 'full-access', asks)
    expect(outcomes[0]?.text).toContain('public.txt')
    for (const { text } of outcomes) {
      expect(text).not.toContain(SECRET)
      expect(text).not.toContain('id_ed25519')
      expect(text).not.toContain('note.yml')
    }
  })
})

describe('what is kept', () => {
  it('can be read by the person alone', async () => {
    await using trap = await makeTrap()
    await attack(trap, 'workspace-write', [call('list', { path: '.' })])
    const open = readdirSync(trap.home, { recursive: true, encoding: 'utf8' })
      .filter((name) => /^(sessions|logs)/.test(name))
      .map((name) => join(trap.home, name))
      .filter((path) => statSync(path).isFile())
    expect(open.length).toBeGreaterThan(0)
    expect(open.filter((path) => (statSync(path).mode & 0o077) !== 0)).toEqual([])
  })

  it('is read by stock zstd', async (test) => {
    needs(test, 'zstd')
    await using trap = await makeTrap()
    const { facts } = await attack(trap, 'workspace-write', [call('list', { path: '.' })])
    const [id = ''] = sessionIds(trap.home)
    const file = join(trap.home, 'sessions', id, 'log', '000001.jsonl.zst')
    const lines = execFileSync('zstd', ['-dc', file], { encoding: 'utf8' }).trim().split('\n')
    expect(lines.slice(1).map((line) => JSON.parse(line))).toEqual(facts)
  })
})
