import { runCli } from '../e2e/fixture/cli.ts'
import { makePlace } from '../e2e/fixture/place.ts'
import { sessionIds } from '../e2e/fixture/read-log.ts'
import type { Row } from './row.ts'

const TIMES = 5

/** A process that takes the sample task again from its log, as long as a person waits for it. */
export async function measureReplay(): Promise<Row[]> {
  await using place = await makePlace()
  await runCli(place, ['--model', 'scripted/fix-a-bug', 'Fix the failing test'])
  const [id = ''] = sessionIds(place.home)
  const samples: number[] = []
  for (let time = 0; time < TIMES; time += 1) {
    const begin = performance.now()
    const { code, stderr } = await runCli(place, ['replay', id])
    if (code !== 0) throw new Error(`the replay is not as the run was: ${stderr}`)
    samples.push(performance.now() - begin)
  }
  return [{ name: 'replay of the sample run', unit: 'ms', samples }]
}
