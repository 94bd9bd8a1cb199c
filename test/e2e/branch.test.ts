import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sessionSalvaged, type Fact } from '@cordage/core/session'
import { expect, it } from 'vitest'
import { makePlace, type Place } from './fixture/place.ts'
import { readLog, sessionIds } from './fixture/read-log.ts'
import { scripts } from './fixture/scripts.ts'
import { runCli } from './fixture/warm-cli.ts'

async function twoTurns(place: Place) {
  const steps = [{ text: 'First answer.' }, { text: 'Second answer.' }, { text: 'Third answer.' }]
  const overlay = await scripts(place, { say: { steps } })
  const args = [...overlay, '--model', 'scripted/say']
  await runCli(place, ['run', ...args, 'first'])
  const [id = ''] = sessionIds(place.home)
  const resume = (of: string, text: string) => runCli(place, ['resume', of, ...args, text])
  const second = await resume(id, 'second')
  expect(second.code, second.stderr).toBe(0)
  return { id, resume }
}

async function factsOf(place: Place, id: string): Promise<Fact[]> {
  const { stdout } = await runCli(place, ['sessions', 'show', id, '--output', 'json'])
  return (JSON.parse(stdout) as { facts: Fact[] }).facts
}

it('a fork goes on from where it was made, and its parent is deleted without it', async () => {
  await using place = await makePlace('empty')
  const { id, resume } = await twoTurns(place)
  const forked = await runCli(place, ['sessions', 'fork', id, '--at', '2'])
  expect(forked.code, forked.stderr).toBe(0)
  expect(forked.stderr).toContain('begins with 1 turn of')
  const child = forked.stdout.trim()
  const unknown = await runCli(place, ['sessions', 'fork', id, '--at', '9'])
  expect([unknown.code, unknown.stdout]).toEqual([1, ''])
  expect(unknown.stderr).toContain('has no turn 9')
  const before = await factsOf(place, child)
  const deleted = await runCli(place, ['sessions', 'delete', id])
  expect(deleted.code, deleted.stderr).toBe(0)
  expect(await factsOf(place, child)).toEqual(before)
  const gone = await resume(child, 'another second')
  expect(gone.code, gone.stderr).toBe(0)
  const shown = await runCli(place, ['sessions', 'show', child])
  expect(shown.stdout).toMatch(/> first[^]*First answer[^]*> another second[^]*Second answer/)
  expect(shown.stdout).not.toContain('> second\n')
})

it('a damaged session is salvaged into one that goes on, and stays as it was', async () => {
  await using place = await makePlace('empty')
  const { id, resume } = await twoTurns(place)
  const whole = readLog(place.home, id).length
  const folder = join(place.home, 'sessions', id, 'log')
  const [first = ''] = readdirSync(folder).sort()
  const bytes = readFileSync(join(folder, first))
  const at = Math.floor(bytes.length / 2)
  bytes[at] = (bytes[at] ?? 0) ^ 8
  writeFileSync(join(folder, first), bytes)
  const salvaged = await runCli(place, ['sessions', 'salvage', id])
  expect(salvaged.code, salvaged.stderr).toBe(0)
  const child = salvaged.stdout.trim()
  const facts = await factsOf(place, child)
  const last = facts.findLast((fact) => sessionSalvaged.is(fact))
  const [gap] = last?.data.missing ?? []
  expect(last?.data.missing).toHaveLength(1)
  const lost = (gap?.to ?? 0) - (gap?.from ?? 0)
  expect(lost).toBeGreaterThan(0)
  expect(salvaged.stderr).toContain(`is as it was.\nmissing: fact`)
  expect(last?.data.facts).toBe(whole - lost)
  expect(readFileSync(join(folder, first)).equals(bytes)).toBe(true)
  const more = await resume(child, 'third')
  expect(more.code, more.stderr).toBe(0)
})
