import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createFileSystem } from '../src/file-system.ts'
import { createProcesses } from '../src/processes.ts'
import { makeDirectory, never } from './fixture.ts'

it('a search is of little memory when it stops early', async () => {
  const dir = await makeDirectory()
  await writeFile(join(dir, 'f'), `${'x'.repeat(200)}\n`.repeat(300_000))
  const before = process.memoryUsage().rss
  const query = { pattern: 'x', maxResults: 10 }
  const { items, incomplete } = await createFileSystem(never).grep(dir, query, never)
  expect(items).toHaveLength(10)
  expect(incomplete).toEqual(['Only the first 10 matching lines are shown.'])
  expect(process.memoryUsage().rss - before).toBeLessThan(50_000_000)
})

it('a process waits for a slow reader in little memory, and loses nothing', async () => {
  const bytes = 200_000_000
  const host = { env: { PATH: process.env['PATH'] }, home: '/nowhere', cwd: '/', version: '0' }
  const processes = createProcesses(host, { env: [], killGraceMs: 300 }, never)
  const argv = processes.shell.argv(`head -c ${bytes} /dev/zero`)
  const running = await processes.start({ argv, cwd: '/', env: processes.baseEnv() }, never)
  await sleep(100)
  const before = process.memoryUsage().rss
  let [total, most, chunks] = [0, 0, 0]
  for await (const chunk of running.output) {
    total += chunk.bytes.length
    if (++chunks % 100 === 0) {
      await sleep(1)
      most = Math.max(most, process.memoryUsage().rss)
    }
  }
  expect(total).toBe(bytes)
  expect(most - before).toBeLessThan(80_000_000)
  expect((await running.exit).code).toBe(0)
})
