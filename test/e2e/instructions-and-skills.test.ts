import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { textOf } from '@cordage/core/message'
import { contextMessage, requestHeader, toolResult, userMessage } from '@cordage/core/session'
import { expect, it } from 'vitest'
import { makePlace, type Place } from './fixture/place.ts'
import { readLog, sessionIds } from './fixture/read-log.ts'
import { scripts } from './fixture/scripts.ts'
import { runCli } from './fixture/warm-cli.ts'

const files = {
  'home/AGENTS.md': 'Answer in German.',
  'home/skills/forms/SKILL.md': '---\nname: forms\ndescription: fills forms\n---\nSee fields.md',
  'home/skills/forms/fields.md': 'a field is a line',
  '.agents/skills/ship.md': '---\nname: ship\ndescription: ships\n---\nShip it in steps.',
  'project/AGENTS.md': 'Use tabs, as in @docs/style.md',
  'project/docs/style.md': 'Eight columns.',
  'project/.agents/skills/broken.md': 'no front',
  'project/packages/a/AGENTS.md': 'Here: four spaces.',
  'project/packages/a/code.ts': 'export {}',
}

const call = (name: string, args: Record<string, unknown>) => ({
  calls: [{ name, arguments: args }],
})

/** Snapshots from a fact on, as `[id, text]`. */
function toldIn(place: Place, from = 0): [string, string][] {
  const [id = ''] = sessionIds(place.home)
  return readLog(place.home, id).flatMap((fact): [string, string][] => {
    if (!contextMessage.is(fact) || fact.seq < from) return []
    return [[fact.data.id, textOf(fact.data.message)]]
  })
}

it('takes a skill by /name and by its tool, and what files say where it works', async () => {
  await using place = await makePlace('empty')
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(place.base, path)), { recursive: true })
    await writeFile(join(place.base, path), text)
  }
  const fields = join(place.home, 'skills/forms/fields.md')
  const steps = [
    call('skill', { name: 'forms' }),
    call('read', { file_path: fields }),
    call('read', { file_path: 'packages/a/code.ts' }),
    { text: 'Fertig.' },
    { text: 'Immer noch fertig.' },
  ]
  const play = [...(await scripts(place, { work: { steps } })), '--model', 'scripted/work']
  const first = await runCli(place, ['run', ...play, '/ship the first one'])
  expect(first.code, first.stderr).toBe(0)
  expect(first.stderr).toContain('1 of the skills cannot be used; /skills says why')

  const [id = ''] = sessionIds(place.home)
  const log = readLog(place.home, id)
  const asked = log.flatMap((fact) => (userMessage.is(fact) ? textOf(fact.data.message) : []))
  expect(asked[0]).toMatch(/^\/ship the first one\n\n<skill name="ship" [^>]*>\nShip it in steps\./)
  const results = log.flatMap((fact) => (toolResult.is(fact) ? textOf(fact.data.part) : []))
  expect(results).toEqual([
    expect.stringMatching(/^<skill name="forms" [^>]*>\nSee fields\.md\n<\/skill>$/),
    expect.stringContaining('a field is a line'),
    expect.stringContaining('export {}'),
  ])
  const [header] = log.flatMap((fact) => (requestHeader.is(fact) ? fact.data : []))
  expect(header?.tools.map(({ name }) => name)).toContain('skill')
  const told = Object.fromEntries(toldIn(place))
  expect(told['instructions-user']).toContain('Answer in German.')
  expect(told['instructions']).toMatch(/Eight columns[\s\S]*Use tabs/)
  expect(told['instructions:packages/a']).toContain('Here: four spaces.')
  expect(told['skills']).toContain('- forms: fills forms\n- ship: ships\n')

  await rm(join(place.project, 'packages/a/AGENTS.md'))
  const second = await runCli(place, ['continue', ...play, 'And now?'])
  expect(second.code, second.stderr).toBe(0)
  expect(toldIn(place, log.length)).toEqual([
    ['instructions:packages/a', 'The instructions for "packages/a" and below are gone.'],
  ])
})
