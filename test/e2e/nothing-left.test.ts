import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { makeSessions } from '../bench/many-sessions.ts'
import { runCli } from './fixture/cli.ts'
import { makePlace, type Place } from './fixture/place.ts'
import { scripts } from './fixture/scripts.ts'

/** The files of a home in which a word is still to be found. */
async function filesWith(place: Place, word: string): Promise<string[]> {
  const entries = await readdir(place.home, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const paths = files.map(({ parentPath, name }) => join(parentPath, name))
  const found = await Promise.all(paths.map(async (path) => (await readFile(path)).includes(word)))
  return paths.filter((_, index) => found[index])
}

it('what was said in a session is in no file of the home once it is deleted', async () => {
  await using place = await makePlace('empty')
  const cordage = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCli(place, args)
    expect(code, stderr).toBe(0)
    return { stdout, stderr }
  }
  const words = { said: 'quixotry', spilled: 'zeugmatic', kept: 'pyknic' }
  await makeSessions(join(place.home, 'sessions'), 100)
  // What no file has by itself is long enough to be spilled, and old enough to be checkpointed.
  const lines = Array.from({ length: 8_000 }, (_, line) => `${line} ${words.spilled}`)
  await writeFile(join(place.project, 'long.txt'), lines.join('\n'))
  const notes = join(place.project, 'notes.txt')
  await writeFile(notes, words.kept)
  const calls = [
    { name: 'bash', arguments: { command: 'cat long.txt' } },
    { name: 'read', arguments: { file_path: notes } },
    { name: 'write', arguments: { file_path: notes, content: 'other' } },
  ]
  const steps = [{ calls: calls.slice(0, 2) }, { calls: calls.slice(2) }, { text: 'Done.' }]
  const overlay = await scripts(place, { work: { steps } })
  await cordage('run', ...overlay, '--model', 'scripted/work', `Find the ${words.said}`)
  const { stdout } = await cordage('sessions', 'list', '--output', 'json', '--limit', '1')
  const [only] = JSON.parse(stdout) as [{ header: { id: string }; firstWords: string }]
  expect(only.firstWords).toContain(words.said)
  const { id } = only.header
  await cordage('sessions', 'pack', id)
  await mkdir(join(place.home, 'exports'))
  for (const end of ['jsonl', 'md', 'html']) {
    await cordage('sessions', 'export', id, '--out', join(place.home, 'exports', `it.${end}`))
  }
  await cordage('sessions', 'search', words.said)
  const before = await filesWith(place, words.said)
  expect(before.map((path) => path.slice(place.home.length))).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/catalog\.db/),
      expect.stringMatching(/search\.db/),
      '/exports/it.md',
    ]),
  )
  expect((await filesWith(place, words.spilled)).join()).toContain('/blobs/')
  expect((await filesWith(place, words.kept)).join()).toContain('/blobs/')

  const { stderr } = await cordage('sessions', 'delete', id)
  for (const word of [...Object.values(words), id]) expect(await filesWith(place, word)).toEqual([])
  expect(stderr).toContain('not reached: backups, exports that are not in the home')
  expect(stderr).toContain('what models, commands and servers were sent')
})
