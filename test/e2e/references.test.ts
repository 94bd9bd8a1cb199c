import { textOf } from '@cordage/core/message'
import { sessionTitle, userMessage } from '@cordage/core/session'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runCli } from './fixture/cli.ts'
import { makePlace } from './fixture/place.ts'
import { latestSession, readLog } from './fixture/read-log.ts'
import { scripts } from './fixture/scripts.ts'

it('what a person names is before the model, and stays so whatever becomes of it', async () => {
  await using place = await makePlace('empty')
  const { home, project } = place
  const steps = [{ text: 'The port is 8443.' }]
  const play = [...(await scripts(place, { one: { steps } })), '--model', 'scripted/one']
  const brought = (id: string) =>
    readLog(home, id).flatMap((fact) => {
      if (!userMessage.is(fact)) return []
      const { message } = fact.data
      const isOwn = 'row' in message.source && message.source.row === 'context-references'
      return isOwn ? [textOf(message)] : []
    })
  expect(await runCli(place, ['run', ...play, 'Which port?'])).toMatchObject({ code: 0 })
  const first = latestSession(home)
  await writeFile(join(project, 'notes.md'), '笔记: use TLS\n')

  const task = `Follow @notes.md and @session:${first}`
  const piped = { stdin: `@package.json @session:${first}\n` }
  expect(await runCli(place, ['run', ...play, task], piped)).toMatchObject({ code: 0 })
  const second = latestSession(home)
  const [session = '', file = '', ...more] = brought(second)
  expect(session).toMatch(/^Background [^]*Which port\?[^]*The port is 8443\./)
  expect(file).toMatch(/path="notes\.md">\n笔记: use TLS\n/)
  expect(more).toEqual([])

  await writeFile(join(project, 'notes.md'), 'use nothing\n')
  expect(await runCli(place, ['sessions', 'delete', first])).toMatchObject({ code: 0 })
  const replayed = await runCli(place, ['replay', second, ...play.slice(0, 2), '--output', 'json'])
  expect(JSON.parse(replayed.stdout)).toMatchObject({ identical: true, requests: 1 })
  expect(brought(second)).toEqual([session, file])

  const refused = await runCli(place, ['run', ...play, `Again @session:${first}`])
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain('[REFERENCE_UNKNOWN]')
  const waiting = await runCli(place, ['sessions', 'queue', latestSession(home)])
  expect(waiting.stdout).toMatch(new RegExp(`Again @session:${first}.*held: There is no session`))
})

it('a run of one turn asks for no title; one that goes on has that of the model chosen for it', async () => {
  await using place = await makePlace('empty')
  const { home, base } = place
  const runs = { one: { steps: [{ text: 'Done.' }] }, titler: { steps: [{ text: 'Cart totals' }] } }
  const patch = join(base, 'titles.patch.yml')
  const roles = { title: ['scripted/titler'] }
  const rows = [
    { id: 'policy-failover', disabled: false, merge: { roles } },
    { id: 'context-titles', disabled: false },
  ]
  await writeFile(patch, JSON.stringify(rows))
  const play = [...(await scripts(place, runs)), '--patch', patch, '--model', 'scripted/one']
  const titles = () =>
    readLog(home, latestSession(home)).flatMap((fact) => (sessionTitle.is(fact) ? fact.data : []))
  const command = ['run', ...play, 'mend the cart']
  expect(await runCli(place, command)).toMatchObject({ code: 0 })
  expect(titles()).toEqual([{ title: 'mend the cart', by: 'first-words' }])
  expect(await runCli(place, ['continue', ...play, 'and the rest'])).toMatchObject({ code: 0 })
  expect(titles().at(-1)).toMatchObject({ title: 'Cart totals', by: 'model' })
})
