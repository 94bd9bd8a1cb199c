import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { measureInstall } from '../packed/measure.ts'
import { cleanEnv } from '../e2e/fixture/cli.ts'
import { besideCordage, packed } from '../e2e/fixture/installation.ts'
import { makePlace, type Place } from '../e2e/fixture/place.ts'
import type { Row } from './row.ts'

const ROUNDS = 5
const ROWS = 40

/** What the packed product costs on the disk, and what one more row costs a boot of it. */
export async function measureComposition(): Promise<Row[]> {
  await using place = await makePlace('empty')
  const { megabytes, thirdParty } = measureInstall(packed ?? '')
  const [none, many] = [await writeRows(place, 0), await writeRows(place, ROWS)]
  const samples: number[] = []
  for (let round = 0; round <= ROUNDS; round += 1) {
    const more = (await bootMs(place, many)) - (await bootMs(place, none))
    if (round > 0) samples.push(more / ROWS)
  }
  const most = (at: number) => ({ of: 'median', at }) as const
  return [
    { name: 'packed: one more trivial row', unit: 'ms', samples, limit: most(5) },
    { name: 'packed: on the disk', unit: 'MB', samples: [megabytes], limit: most(130) },
    {
      name: 'packed: packages of others',
      unit: 'packages',
      samples: [thirdParty.length],
      limit: most(60),
    },
  ]
}

/** An overlay with so many rows, each a module of its own. */
async function writeRows({ base }: Place, count: number): Promise<string> {
  const rows = Array.from({ length: count }, (_, at) => `trivial-${at}`)
  for (const id of rows) {
    await writeFile(join(base, `${id}.mjs`), `export default { name: '${id}', apply: () => {} }`)
  }
  const patch = join(base, `${count}.patch.yml`)
  const insert = rows.map((id) => ({ id, name: `./${id}.mjs` }))
  await writeFile(patch, JSON.stringify(insert.length > 0 ? [{ insert }] : []))
  return patch
}

async function bootMs(place: Place, patch: string): Promise<number> {
  const script = besideCordage(join(import.meta.dirname, 'boot-once.ts'))
  const options = { env: cleanEnv(place) }
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [script, place.home, patch],
    options,
  )
  return Number(stdout)
}
