import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Fact } from '@cordage/core/session'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createJsonlStore, nodeIo } from '../../packages/stores/jsonl/src/index.ts'
import { optionsFor } from '../bench/many-sessions.ts'
import { makePlace, type Place } from './fixture/place.ts'
import { sessionIds } from './fixture/read-log.ts'
import { scripts } from './fixture/scripts.ts'
import { runCli } from './fixture/warm-cli.ts'

let place: Place
beforeEach(async () => {
  place = await makePlace('empty')
})
afterEach(() => place[Symbol.asyncDispose]())

/** What a later version and plugins that are gone may have left in a log. */
const strangers = [
  { type: '@somebody/plugin/weather', v: 3, data: { sky: 'of lead', deep: [{ er: null }] } },
  { type: 'turn/omen', v: 1, data: 'a bare word' },
  { type: 'turn/end', v: 99, data: { turn: 7, reason: 'enlightened' }, signed: 'by the future' },
]

const cordage = async (...args: string[]) => {
  const { code, stdout, stderr } = await runCli(place, args)
  expect(code, stderr).toBe(0)
  return stdout
}

async function strangersIn(id: string): Promise<unknown[]> {
  const { facts } = JSON.parse(await cordage('sessions', 'show', id, '--output', 'json')) as {
    facts: Fact[]
  }
  const types = new Set(strangers.map(({ type, v }) => `${type} ${v}`))
  return facts
    .filter(({ type, v }) => types.has(`${type} ${v}`))
    .map(({ seq: _seq, time: _time, ...rest }) => rest)
}

it('facts that nobody here knows load, are shown as unknown, and outlive all that is done with a session', async () => {
  const steps = [{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }]
  const overlay = await scripts(place, { say: { steps } })
  const say = [...overlay, '--model', 'scripted/say']
  await cordage('run', ...say, 'first')
  const [id = ''] = sessionIds(place.home)
  const store = createJsonlStore({ ...optionsFor(join(place.home, 'sessions')), io: nodeIo })
  const log = await store.open(id, { mode: 'write' })
  const next = (log.snapshot?.seq ?? 0) + log.tail.length
  const facts = strangers.map((fact, index) => ({ ...fact, seq: next + index, time: 5 }))
  await log.append(facts, { sync: true })
  await log.close()
  await store.close()

  const text = await cordage('sessions', 'show', id)
  expect(text).toContain('? unknown @somebody/plugin/weather (version 3): {"sky":"of lead"')
  expect(text).toContain('? unknown turn/omen (version 1): "a bare word"')
  expect(text).toContain('? unknown turn/end (version 99): ')
  const page = join(place.project, 'page.html')
  await cordage('sessions', 'export', id, '--out', page)
  expect(await readFile(page, 'utf8')).toContain('Unknown: @somebody/plugin/weather')

  await cordage('resume', id, ...say, 'second')
  expect(await strangersIn(id)).toEqual(strangers)
  await cordage('sessions', 'pack', id)
  expect(await strangersIn(id)).toEqual(strangers)
  const fork = (await cordage('sessions', 'fork', id)).trim()
  expect(await strangersIn(fork)).toEqual(strangers)
  const salvaged = (await cordage('sessions', 'salvage', fork)).trim()
  expect(await strangersIn(salvaged)).toEqual(strangers)
  await cordage('resume', salvaged, ...say, 'third')
  expect(await strangersIn(salvaged)).toEqual(strangers)
})
