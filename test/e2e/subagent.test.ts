import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { textOf } from '@cordage/core/message'
import { attemptStart, toolResult, turnEnd, userMessage } from '@cordage/core/session'
import type { SessionSummary } from '@cordage/core/store'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCli, startCli } from './fixture/cli.ts'
import { makePlace, type Place } from './fixture/place.ts'
import { readLog, sessionIds } from './fixture/read-log.ts'
import { scripts } from './fixture/scripts.ts'

const ask = (prompt: string) => ({
  calls: [{ name: 'subagent_fork', arguments: { description: `does ${prompt}`, prompt } }],
})

/** What the parent says, and between it what a child says that is asked to do this. */
const steps = [
  { text: 'First answer.' },
  { text: 'Second answer.' },
  {
    when: { lastUserContains: 'look slowly' },
    text: 'I look around. '.repeat(99),
    delayMs: 10_000,
  },
  ask('look slowly'),
  { when: { lastUserContains: 'look again' }, text: 'I looked around.' },
  ask('look again'),
  { text: 'Third answer.' },
]

describe('a child that is forked from a session of two turns', () => {
  let place: Place
  let parent: string
  let killed: string
  const cli = async (...words: string[]) => {
    const { code, stdout, stderr } = await runCli(place, words)
    expect(code, stderr).toBe(0)
    return { stdout, stderr }
  }
  let play: string[]
  const resume = (id: string) => cli('resume', id, ...play, 'go on')
  const children = () => sessionIds(place.home).filter((id) => id !== parent)

  beforeAll(async () => {
    place = await makePlace('empty')
    play = [...(await scripts(place, { lead: { steps } })), '--model', 'scripted/lead']
    await cli('run', ...play, 'first')
    parent = sessionIds(place.home)[0] ?? ''
    await cli('resume', parent, ...play, 'second')
    const { child, ended } = startCli(place, ['resume', parent, ...play, 'third'])
    const atWork = () =>
      children().find((id) =>
        readLog(place.home, id).some((fact) => attemptStart.is(fact) && fact.data.turn === 3),
      )
    while (atWork() === undefined && child.exitCode === null) await sleep(20)
    killed = atWork() ?? ''
    child.kill('SIGKILL')
    await ended
  })
  afterAll(() => place[Symbol.asyncDispose]())

  it('goes on after kill -9 in the middle of its work, as deep as before', async () => {
    await resume(killed)
    expect(results(place, killed)).toEqual(Array(2).fill('SUBAGENT_DEPTH_EXCEEDED'))
    expect(endings(place, killed)).toEqual(['completed', 'completed', 'interrupted', 'completed'])
  })

  it('is named in the log of its parent', async () => {
    const { stdout } = await cli('sessions', 'show', parent)
    expect(stdout).toContain(`\n↳ ${killed} does look slowly\n`)
    expect(stdout).not.toContain('unknown')
  })

  it('leaves a parent that does not know what came of it, and may ask another one', async () => {
    const { stdout, stderr } = await resume(parent)
    expect(stdout).toBe('Third answer.\n')
    expect(stderr).toContain('✓ I looked around.')
    expect(results(place, parent)).toEqual(['TOOL_OUTCOME_UNKNOWN', 'fine'])
    expect(endings(place, parent)).toEqual(['completed', 'completed', 'interrupted', 'completed'])
  })

  it('shares the sealed files of its parent, and is listed and counted as its child', async () => {
    const { stdout } = await cli('sessions', 'list', '--children', '--output', 'json')
    const listed = new Map(
      (JSON.parse(stdout) as SessionSummary[]).map((summary) => [summary.header.id, summary]),
    )
    expect([...listed.keys()].sort()).toEqual([parent, ...children()].sort())
    for (const id of children()) {
      const header = { depth: 1, parent: { id: parent, kind: 'fork' } }
      const title = id === killed ? 'does look slowly' : 'does look again'
      expect(listed.get(id)).toMatchObject({ title, header })
      // The last one was open when the child began.
      const sealed = id === killed ? [1, 2] : [1, 2, 3]
      expect(shared(place, parent, id)).toEqual(sealed.map((n) => `00000${n}.jsonl.zst`))
    }
    const usage = await cli('sessions', 'usage', parent)
    for (const id of children()) expect(usage.stdout).toContain(`child ${id}`)
  })

  it('is readable when its parent is deleted', async () => {
    const [second = ''] = children().filter((id) => id !== killed)
    const { stderr } = await cli('sessions', 'delete', parent)
    expect(stderr).toContain(`not deleted: ${second} was forked from it`)
    const { stdout } = await cli('sessions', 'show', second)
    expect(stdout).toMatch(/> first[^]*> second[^]*look again\nI looked around\./)
    const said = readLog(place.home, second).filter(userMessage.is)
    expect(said.map(({ data }) => textOf(data.message)).slice(0, 2)).toEqual(['first', 'second'])
  })
})

function results(place: Place, id: string): string[] {
  return readLog(place.home, id).flatMap((fact) =>
    toolResult.is(fact) ? [fact.data.error?.code ?? 'fine'] : [],
  )
}

function endings(place: Place, id: string): string[] {
  return readLog(place.home, id).flatMap((fact) => (turnEnd.is(fact) ? [fact.data.reason] : []))
}

/** The segments that are one file in both. */
function shared(place: Place, one: string, other: string): string[] {
  const [mine, theirs] = [one, other].map((id) => {
    const folder = join(place.home, 'sessions', id, 'log')
    return new Map(readdirSync(folder).map((name) => [name, statSync(join(folder, name)).ino]))
  })
  return [...(mine ?? [])].flatMap(([name, inode]) => (theirs?.get(name) === inode ? [name] : []))
}
