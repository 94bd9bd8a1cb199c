import { createHash, randomBytes } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { runCli } from './fixture/cli.ts'
import { makePlace, type Place } from './fixture/place.ts'
import { readLog, sessionIds } from './fixture/read-log.ts'
import { scripts } from './fixture/scripts.ts'

function chunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  return Buffer.concat([length, Buffer.from(type), data, Buffer.alloc(4)])
}

/** A picture of noise, which no compression makes small. */
function picture(): Buffer {
  const size = 100
  const head = Buffer.alloc(13)
  head.writeUInt32BE(size, 0)
  head.writeUInt32BE(size, 4)
  head.set([8, 2], 8)
  const rows = Array.from({ length: size }, () => [Buffer.alloc(1), randomBytes(3 * size)]).flat()
  const signature = Buffer.from('89504e470d0a1a0a', 'hex')
  const data = deflateSync(Buffer.concat(rows))
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('IDAT', data),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

async function run(place: Place, ...args: string[]) {
  const { code, stdout, stderr } = await runCli(place, args)
  expect(code, stderr).toBe(0)
  return stdout
}

it('a picture and a long output are blobs by their hashes, once, and in no fact or snapshot', async () => {
  await using place = await makePlace('empty')
  const png = picture()
  const output = Array.from(
    { length: 6_000 },
    (_, line) => `${line} ${hashOf(Buffer.from([line]))}`,
  )
  const middle = output[3_000] ?? ''
  await writeFile(join(place.project, 'noise.png'), png)
  await writeFile(join(place.project, 'long.txt'), `${output.join('\n')}\n`)
  const look = { name: 'read', arguments: { file_path: join(place.project, 'noise.png') } }
  const print = { name: 'bash', arguments: { command: 'cat long.txt' } }
  const steps = Array.from({ length: 5 }, () => [
    { calls: [look, print] },
    { text: 'Seen.' },
  ]).flat()
  const overlay = await scripts(place, { look: { steps } })
  // Segments are begun, each with a snapshot, while the picture is on the surface.
  const small = join(place.base, 'small.patch.yml')
  await writeFile(
    small,
    JSON.stringify([{ id: 'store-jsonl', config: { segmentMaxBytes: 20_000 } }]),
  )
  const args = [...overlay, '--patch', small, '--model', 'scripted/look']
  await run(place, 'run', ...args, 'look')
  const [id = ''] = sessionIds(place.home)
  for (let turn = 0; turn < 3; turn += 1) await run(place, 'resume', id, ...args, 'again')

  const results = readLog(place.home, id).filter(({ type }) => type === 'tool/result')
  expect(results.length).toBeGreaterThan(5)
  const folder = join(place.home, 'sessions', id)
  const names = await readdir(join(folder, 'blobs'))
  const blobs = await Promise.all(names.map((name) => readFile(join(folder, 'blobs', name))))
  expect(blobs.map(hashOf)).toEqual(names)
  expect(blobs.filter((blob) => blob.equals(png))).toHaveLength(1)
  expect(blobs.filter((blob) => blob.includes(middle))).toHaveLength(1)

  const segments = await readdir(join(folder, 'log'))
  expect(segments.length).toBeGreaterThan(3)
  const sizes = await Promise.all(
    segments.map(async (name) => (await readFile(join(folder, 'log', name))).length),
  )
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(10 * png.length)
  const text = JSON.stringify(readLog(place.home, id))
  expect(text).toContain(hashOf(png))
  expect(text).not.toContain(png.toString('base64').slice(3_000, 3_060))
  expect(text).not.toContain(middle)
})
