import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startCli } from './fixture/cli.ts'
import { makePlace, type Place } from './fixture/place.ts'

const layerOf = ({ home }: Place) => join(home, 'cordis.patch.yml')

/** Two answers, of which the second comes only after `go` is there. */
const SCRIPT = `
- id: model-scripted
  merge:
    scripts:
      waiting:
        description: Waits for somebody who edits a layer.
        steps:
          - { text: Waiting, calls: [{ name: bash, arguments: { command: 'until [ -e go ]; do sleep 0.05; done', timeout_ms: 60000 } }] }
          - { text: Done }
`

/** What was written to stderr, once it holds `text`. */
async function saying(run: ReturnType<typeof startCli>, text: string): Promise<string> {
  while (!run.stderr().includes(text)) {
    const ended = await Promise.race([run.ended, new Promise((done) => setTimeout(done, 20))])
    if (ended) throw new Error(`it ended without saying ${text}: ${run.stderr()}`)
  }
  return run.stderr()
}

async function logged(place: Place, text: string): Promise<void> {
  const folder = join(place.home, 'logs')
  const log = join(folder, 'cordage.log')
  while (!(await readFile(log, 'utf8').catch(() => '')).includes(text)) {
    await new Promise((done) => setTimeout(done, 20))
  }
}

it('takes the edit of a layer while it runs, and says at once why it does not', async () => {
  await using place = await makePlace('empty')
  const layer = layerOf(place)
  await mkdir(place.home, { recursive: true })
  await writeFile(layer, SCRIPT)
  const run = startCli(place, ['--model', 'scripted/waiting', 'Wait.'])
  await saying(run, 'bash')
  await writeFile(layer, `${SCRIPT}- { id: policy-retri, merge: { maxRetries: 2 } }\n`)
  const said = await saying(run, 'a changed layer was not taken')
  expect(said).toContain(`${layer}:`)
  expect(said).toContain('policy-retry')
  await writeFile(`${layer}~`, `${SCRIPT}- { id: policy-retry, merge: { maxRetries: 2 } }\n`)
  await rename(`${layer}~`, layer)
  await logged(place, 'a changed layer was applied')
  await writeFile(join(place.project, 'go'), '')
  const { code, stdout } = await run.ended
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'Done\n' })
})
