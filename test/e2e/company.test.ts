import {
  cpSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { turnEnd, type Fact } from '@cordage/core/session'
import { describe, expect, it } from 'vitest'
import { startCli, type Running } from './fixture/cli.ts'
import { makePlace, type Place } from './fixture/place.ts'
import { readLog, sessionIds } from './fixture/read-log.ts'
import { scripts } from './fixture/scripts.ts'
import { runCli } from './fixture/warm-cli.ts'

/** Answers so slowly that others come by meanwhile. */
async function slowRun(place: Place, delayMs: number) {
  const words = Array.from({ length: 400 }, (_, index) => `word${index}`).join(' ')
  const steps = [{ text: `Slowly: ${words}`, delayMs }, { text: 'Then this.' }]
  const overlay = await scripts(place, {
    slow: { steps },
    quick: { steps: [{ text: 'Done by the second.' }] },
  })
  const cli = startCli(place, ['run', ...overlay, '--model', 'scripted/slow', 'begin'])
  await until(() => sessionIds(place.home).length > 0)
  const [id = ''] = sessionIds(place.home)
  await until(() => readLog(place.home, id).some(({ type }) => type === 'attempt/start'))
  const second = (...more: string[]) =>
    runCli(place, ['resume', id, ...overlay, '--model', 'scripted/quick', ...more])
  return { cli, id, second }
}

async function until(holds: () => boolean): Promise<void> {
  await expect.poll(holds, { timeout: 60_000, interval: 50 }).toBe(true)
}

function expectInOrder(facts: readonly Fact[]): void {
  expect(facts.map(({ seq }) => seq)).toEqual([...facts.keys()])
}

async function killed({ child, ended }: Running): Promise<void> {
  child.kill('SIGKILL')
  await ended
}

describe('two processes and one session', () => {
  it('the second is refused, may look on as it goes, and has it once the first is killed', async () => {
    await using place = await makePlace('empty')
    const { cli, id, second } = await slowRun(place, 250)
    const refused = await second()
    expect(refused.code, refused.stderr).toBe(75)
    expect(refused.stderr).toContain(`Session ${id} is open in another place`)
    const looker = startCli(place, ['sessions', 'show', id, '--follow'])
    await until(() => /word\d+ word\d+/.test(looker.stdout()))
    const seen = looker.stdout().length
    await until(() => looker.stdout().length > seen + 20)
    expect(looker.stdout()).toContain('> begin')
    const list = await runCli(place, ['sessions', 'list'])
    expect(list.stdout).toMatch(new RegExp(`${id}.*busy`))
    await killed(cli)
    const resumed = await second()
    expect(resumed.code, resumed.stderr).toBe(0)
    await until(() => looker.stdout().includes('Done by the second.'))
    looker.child.kill('SIGINT')
    expect((await looker.ended).code).toBe(130)
    const facts = readLog(place.home, id)
    expectInOrder(facts)
    expect(facts.some(({ type }) => type === 'attempt/failed')).toBe(true)
  })

  it.runIf(process.platform !== 'win32')(
    'a stopped owner keeps it until it is taken over, and then says that it was',
    async () => {
      await using place = await makePlace('empty')
      const { cli, id, second } = await slowRun(place, 20)
      cli.child.kill('SIGSTOP')
      try {
        const refused = await second()
        expect([refused.code, refused.stdout]).toEqual([75, ''])
        const taken = await second('--take-over')
        expect(taken.code, taken.stderr).toBe(0)
        expect(taken.stdout).toContain('Done by the second.')
        const before = readLog(place.home, id)
        cli.child.kill('SIGCONT')
        const woken = await cli.ended
        expect(woken.code, woken.stderr).toBe(1)
        expect(woken.stderr).toContain(`Another process has taken over session ${id}`)
        const after = await runCli(place, ['sessions', 'show', id, '--output', 'json'])
        const { facts, notices } = JSON.parse(after.stdout) as { facts: Fact[]; notices: string[] }
        expect(notices).toEqual([])
        expectInOrder(facts)
        expect(facts).toEqual(before)
        expect(facts.filter((fact) => turnEnd.is(fact)).at(-1)?.data.reason).toBe('completed')
      } finally {
        cli.child.kill('SIGKILL')
      }
    },
  )
})

describe('folders that are not as they should be', () => {
  it('break neither the list nor another session', async () => {
    await using place = await makePlace('empty')
    const overlay = await scripts(place, { say: { steps: [{ text: 'Said.' }] } })
    const run = (text: string) =>
      runCli(place, ['run', ...overlay, '--model', 'scripted/say', text])
    for (const text of ['good', 'restored', 'damaged', 'moved']) {
      const { code, stderr } = await run(text)
      expect(code, stderr).toBe(0)
    }
    const listed = async () => {
      const { stdout, code, stderr } = await runCli(place, ['sessions', 'list', '--output', 'json'])
      expect(code, stderr).toBe(0)
      const list = JSON.parse(stdout) as {
        header: { id: string }
        firstWords?: string
        damaged?: string
        bytes: number
      }[]
      return new Map(list.map((one) => [one.header.id, one]))
    }
    const first = await listed()
    const idOf = (words: string) =>
      [...first.values()].find(({ firstWords }) => firstWords === words)?.header.id ?? ''
    const folder = (id: string) => join(place.home, 'sessions', id)
    const backup = join(place.base, 'backup')
    const restored = idOf('restored')
    cpSync(folder(restored), backup, { recursive: true })
    const again = await runCli(place, [
      'resume',
      restored,
      ...overlay,
      '--model',
      'scripted/say',
      'more',
    ])
    expect(again.code, again.stderr).toBe(0)
    const grown = (await listed()).get(restored)?.bytes ?? 0
    expect(grown).toBeGreaterThan(first.get(restored)?.bytes ?? 0)

    // A backup comes back: other inodes, older times, less in it than was known.
    rmSync(folder(restored), { recursive: true })
    cpSync(backup, folder(restored), { recursive: true, preserveTimestamps: true })
    for (const name of readdirSync(join(folder(restored), 'log'))) {
      utimesSync(join(folder(restored), 'log', name), 1_600_000_000, 1_600_000_000)
    }
    renameSync(folder(idOf('moved')), folder('somewhere-else'))
    symlinkSync(folder(idOf('good')), folder('link'))
    symlinkSync(folder('nowhere'), folder('dangling'))
    mkdirSync(join(folder('foreign'), 'stuff'), { recursive: true })
    mkdirSync(join(folder('empty'), 'log'), { recursive: true })
    writeFileSync(folder('file'), 'not a session')
    writeFileSync(join(folder(idOf('damaged')), 'log/000001.jsonl.zst'), 'rubbish')

    const then = await listed()
    expect([...then.keys()].sort()).toEqual(
      [idOf('good'), restored, idOf('damaged'), 'somewhere-else', 'empty'].sort(),
    )
    expect(then.get(restored)).toMatchObject({ firstWords: 'restored' })
    expect(then.get(restored)?.bytes).toBe(first.get(restored)?.bytes)
    expect(then.get('somewhere-else')?.damaged).toContain('holds session')
    const good = await runCli(place, [
      'resume',
      idOf('good'),
      ...overlay,
      '--model',
      'scripted/say',
      'on',
    ])
    expect(good.code, good.stderr).toBe(0)
    const back = await runCli(place, [
      'resume',
      restored,
      ...overlay,
      '--model',
      'scripted/say',
      'on',
    ])
    expect(back.code, back.stderr).toBe(0)
    expectInOrder(readLog(place.home, restored))
  })
})
