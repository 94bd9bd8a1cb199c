import { createHash } from 'node:crypto'
import { resultText } from '@cordage/core/tool'
import { toolResult } from '@cordage/core/session'
import { expect, it } from 'vitest'
import { makePlace } from './fixture/place.ts'
import { readLog, sessionIds } from './fixture/read-log.ts'
import { scripts } from './fixture/scripts.ts'
import { runCli } from './fixture/warm-cli.ts'

const OUTPUT = `${Array.from({ length: 60_000 }, (_, at) => at + 1).join('\n')}\n`
const handle = createHash('sha256').update(OUTPUT).digest('hex').slice(0, 12)
const read = (offset: number) => ({
  calls: [{ name: 'read_spill', arguments: { handle, offset, limit: 600 } }],
})

it('what a command printed is read in the middle by its handle, and again after a restart', async () => {
  await using place = await makePlace('empty')
  const { home } = place
  const print = { calls: [{ name: 'bash', arguments: { command: 'seq 1 60000' } }] }
  const steps = [print, read(200_000), { text: 'Read.' }, read(100_000), { text: 'Again.' }]
  const play = [...(await scripts(place, { reader: { steps } })), '--model', 'scripted/reader']
  const cli = async (...words: string[]) => {
    const { code, stdout, stderr } = await runCli(place, words)
    expect(code, stderr).toBe(0)
    return stdout
  }
  expect(await cli('run', ...play, 'count')).toBe('Read.\n')
  const [id = ''] = sessionIds(home)
  expect(await cli('sessions', 'gc')).toContain('0 blobs that nothing names')
  expect(await cli('resume', id, ...play, 'read on')).toBe('Again.\n')
  const shown = readLog(home, id).flatMap((fact) => {
    return toolResult.is(fact) ? [resultText(fact.data.part.content)] : []
  })
  expect(shown[0]).toContain(`<harness-note handle="${handle}" bytes="${OUTPUT.length}">`)
  expect(shown[0]).not.toContain('\n35000\n')
  for (const [at, offset] of [
    [1, 200_000],
    [2, 100_000],
  ] as const) {
    const part = OUTPUT.slice(offset, offset + 600)
    expect(shown[at]).toBe(`bytes ${offset} to ${offset + 600} of ${OUTPUT.length}\n${part}`)
  }

  const figures = await cli('resume', id, '/context')
  expect(figures).toMatch(/^Pressure of the next request to scripted\/reader, as projected:/)
  expect(figures).toMatch(/results of bash \(tool-bash\)[^]*Used by all requests of this session/)
})
