import type { RunningProcess } from '@cordage/core/environment'
import type { Effect } from '@cordage/core/policy'
import type { Detached, ToolRun } from '@cordage/core/tool'
import { describe, expect, it } from 'vitest'
import { openBench } from '../tool/bench.ts'
import { makeTool } from '../tool/make-tool.ts'
import { isAlive, readPid } from './processes.ts'

const argv = ['bash', '-c', 'echo $$ > pid; exec sleep 60'] as [string, ...string[]]
const process = (): Effect[] => [{ kind: 'process', argv, cwd: '.' }]
const code = (use: () => unknown): string => {
  try {
    use()
    return 'done'
  } catch (error) {
    return (error as { code: string }).code
  }
}

/** A tool that keeps what it started, and what it was called with. */
function keeper(body: (child: RunningProcess, run: ToolRun) => unknown) {
  const kept: { child?: RunningProcess; run?: ToolRun } = {}
  const tool = makeTool(
    'keep',
    async (_, run) => {
      const child = await run.processes.start({ argv })
      Object.assign(kept, { child, run })
      return (await body(child, run)) ?? null
    },
    { effects: process },
  )
  return { kept, tool }
}

describe('a process that is detached', () => {
  it('outlives its call, and can still keep its output', async () => {
    let detached: Detached | undefined
    const { kept, tool } = keeper((child, run) => {
      detached = run.processes.detach(child)
    })
    await using bench = await openBench({ tools: [tool] })
    await bench.call('keep', {})
    const pid = await readPid(bench.project, 'pid')
    expect(await isAlive(pid)).toBe(true)
    const hash = await detached?.putBlob(Buffer.from('whole'))
    expect(Buffer.from(await bench.session.getBlob(hash ?? '')).toString()).toBe('whole')
    await kept.child?.kill()
    expect(await isAlive(pid)).toBe(false)
  })

  it.each([
    ['survives the abort of its call', true],
    ['ends with the abort where it was not detached', false],
  ])('%s', async (_, detach) => {
    const abort = new AbortController()
    const { kept, tool } = keeper(async (child, run) => {
      await readPid(run.project, 'pid')
      if (detach) run.processes.detach(child)
      abort.abort()
    })
    await using bench = await openBench({ tools: [tool] })
    await bench.call('keep', {}, { signal: abort.signal })
    expect(await isAlive(await readPid(bench.project, 'pid'))).toBe(detach)
    await kept.child?.kill()
  })

  it('is one that this call started, once, and before it ended', async () => {
    const other: RunningProcess[] = []
    const { kept, tool } = keeper((child, run) => {
      const stranger = other.at(-1)
      other.push(child)
      if (!stranger) return []
      return [
        code(() => run.processes.detach(stranger)),
        code(() => run.processes.detach(child)),
        code(() => run.processes.detach(child)),
      ]
    })
    await using bench = await openBench({ tools: [tool] })
    await bench.call('keep', {})
    expect(code(() => kept.run?.processes.detach(other[0]!))).toBe('TOOL_DENIED')
    const { value } = await bench.call('keep', {})
    expect(value).toEqual(['TOOL_DENIED', 'done', 'TOOL_DENIED'])
    await kept.child?.kill()
  })

  it('is refused when the authority has shrunk meanwhile', async () => {
    const { kept, tool } = keeper((child, run) => {
      bench.authority = { mode: 'read-only', writableRoots: [] }
      return code(() => run.processes.detach(child))
    })
    await using bench = await openBench({ tools: [tool] })
    expect((await bench.call('keep', {})).value).toBe('TOOL_DENIED')
    await kept.child?.exit
  })
})
