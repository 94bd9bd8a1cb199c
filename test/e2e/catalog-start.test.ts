import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { makeSessions } from '../bench/many-sessions.ts'
import { runCli } from './fixture/cli.ts'
import { makePlace } from './fixture/place.ts'
import { scripts } from './fixture/scripts.ts'

const spoils: [what: string, spoil: (path: string) => Promise<unknown>][] = [
  ['holds rubbish', (path) => writeFile(path, 'rubbish '.repeat(1_000))],
  ['is a folder', (path) => mkdir(join(path, 'in the way'), { recursive: true })],
]

it.each(spoils)(
  'a catalog that %s keeps nobody from a run, a list and going on',
  async (_, spoil) => {
    await using place = await makePlace('empty')
    const sessions = join(place.home, 'sessions')
    await makeSessions(sessions, 101)
    await spoil(join(sessions, 'catalog.db'))
    const overlay = await scripts(place, {
      say: { steps: [{ text: 'Said.' }, { text: 'Again.' }] },
    })
    const say = [...overlay, '--model', 'scripted/say']
    const cordage = async (...args: string[]) => {
      const { code, stdout, stderr } = await runCli(place, args)
      expect(code, stderr).toBe(0)
      return stdout
    }
    expect(await cordage('run', ...say, 'a word')).toContain('Said.')
    const listed = JSON.parse(
      await cordage('sessions', 'list', '--output', 'json', '--limit', '200'),
    ) as { firstWords?: string }[]
    expect(listed).toHaveLength(102)
    expect(listed[0]).toMatchObject({ firstWords: 'a word' })
    expect(await cordage('continue', ...say, 'and another')).toContain('Again.')
  },
)
