import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { openBench } from './bench.ts'
import { makeTool, readTool, writes } from './make-tool.ts'

describe('paths', () => {
  it('that are swapped all the time never lead outside', async () => {
    const put = makeTool(
      'put',
      async (_, run) => {
        await using target = await run.fs.forWrite('sub/a.txt')
        return target.write(Buffer.from('inside'), {})
      },
      { effects: () => writes({ path: 'sub/a.txt' }) },
    )
    await using bench = await openBench({ tools: [put, readTool] })
    await writeFile(join(bench.outside, 'a.txt'), 'OUTSIDE')
    const inside = join(bench.project, 'sub')
    const spare = join(bench.project, 'spare')
    await mkdir(inside)
    await writeFile(join(inside, 'a.txt'), 'inside')
    const stop = new AbortController()
    const swapper = (async () => {
      while (!stop.signal.aborted) {
        await rename(inside, spare)
        await symlink(bench.outside, inside)
        await sleep(0)
        await rm(inside)
        await rename(spare, inside)
        await sleep(2)
      }
    })()
    const outcomes = new Map<string, number>()
    const both = () => outcomes.has('put done') && outcomes.has('put TOOL_DENIED')
    for (let round = 0; round < 50 || (round < 500 && !both()); round++) {
      const answers = await bench.run([
        ['put', {}, `w${round}`],
        ['get', { path: 'sub/a.txt' }, `r${round}`],
      ])
      for (const { name, code, value } of answers) {
        // Reading outside is allowed in this mode: what counts is that no write gets there.
        const outcome = `${name} ${code ?? (name === 'put' ? 'done' : String(value))}`
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
      }
    }
    stop.abort()
    await swapper
    expect(await readFile(join(bench.outside, 'a.txt'), 'utf8')).toBe('OUTSIDE')
    expect(await readdir(bench.outside)).toEqual(['a.txt'])
    // Otherwise the race was never run.
    expect(both()).toBe(true)
  })
})
