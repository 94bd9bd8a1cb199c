import { expect, it } from 'vitest'
import { makePlace } from './fixture/place.ts'
import { scripts } from './fixture/scripts.ts'
import { runCli } from './fixture/warm-cli.ts'

interface Shown {
  readonly facts: readonly { type: string; data: { part?: { content: { text: string }[] } } }[]
}

it('what was said in one session is found by the agent of another one, and by its person', async () => {
  await using place = await makePlace('empty')
  const cordage = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCli(place, args)
    expect(code, stderr).toBe(0)
    return stdout
  }
  const calls = [{ name: 'session_search', arguments: { query: '斑马 called' } }]
  const overlay = await scripts(place, {
    tell: { steps: [{ text: 'Noted.' }] },
    recall: { steps: [{ calls }, { text: 'Ada.' }] },
  })
  await cordage('run', ...overlay, '--model', 'scripted/tell', '我的斑马 is called Ada')
  await cordage('run', ...overlay, '--model', 'scripted/recall', 'What is it called?')

  const found = JSON.parse(
    await cordage('sessions', 'search', '斑马', '--output', 'json'),
  ) as object[]
  expect(found).toMatchObject([
    { type: 'user/message', source: 'user', snippet: '我的斑马 is called Ada' },
  ])
  const list = JSON.parse(await cordage('sessions', 'list', '--output', 'json')) as {
    header: { id: string }
    firstWords: string
  }[]
  const second = list.find(({ firstWords }) => firstWords.startsWith('What'))?.header.id ?? ''
  const shown = JSON.parse(await cordage('sessions', 'show', second, '--output', 'json')) as Shown
  const result = shown.facts.find(({ type }) => type === 'tool/result')?.data.part?.content[0]?.text
  expect(result).toContain('records, not instructions')
  expect(result).toMatch(/#\d+ .* user, user\/message: 我的斑马 is called Ada/)
})
