import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { reconcileCall, type Tool } from '@cordage/core/tool'
import write from '../../../tools/write/src/index.ts'
import { openBench, type Bench } from './bench.ts'
import { makeTool } from './make-tool.ts'

const ask = ({ root, session, scope, authority }: Bench, name: string, args: unknown) => {
  const toolset = root.tools.resolve(scope, { provider: 'p', model: 'm', input: ['text'] })
  const actor = { sessionId: session.id, agentId: 'a', authority }
  const call = { type: 'tool-call' as const, id: 'x', name, arguments: JSON.stringify(args) }
  return reconcileCall({ ctx: root, session, scope, actor, toolset }, call)
}

describe('a tool that is asked what became of a call', () => {
  it('may look, and do nothing else', async () => {
    const tried: string[] = []
    const reconcile: NonNullable<Tool['reconcile']> = async (_, { fs }) => {
      for (const path of ['a.txt', '../outside/b.txt']) {
        for (const use of [() => fs.forRead(path), () => fs.forWrite(path)]) {
          const done = async () => (await use())[Symbol.asyncDispose]()
          const refused = ({ code }: { code: string }) => code
          tried.push(await done().then(() => 'done', refused))
        }
      }
      return 'looked'
    }
    const effects: Tool['effects'] = () => [
      { kind: 'fs:read', path: 'a.txt' },
      { kind: 'fs:write', path: 'a.txt' },
    ]
    const tool = { ...makeTool('look', async () => 'x', { effects }), reconcile }
    await using bench = await openBench({ tools: [tool] })
    await writeFile(join(bench.project, 'a.txt'), 'a')
    await mkdir(bench.outside, { recursive: true })
    await writeFile(join(bench.outside, 'b.txt'), 'b')
    bench.authority = { mode: 'read-only', writableRoots: [bench.project] }
    expect(await ask(bench, 'look', {})).toEqual({ kind: 'found', text: 'looked' })
    expect([tried[0], tried[1], tried[3]]).toEqual(['done', 'TOOL_DENIED', 'TOOL_DENIED'])
    expect(await readFile(join(bench.project, 'a.txt'), 'utf8')).toBe('a')
  })

  it('says nothing where it fails, gives no words, or never ends with its signal', async () => {
    const answers: NonNullable<Tool['reconcile']>[] = [
      () => Promise.reject(Object.create(null)),
      async () => undefined,
      async () => 7 as never,
    ]
    for (const reconcile of answers) {
      const tool = { ...makeTool('odd', async () => 'x'), reconcile }
      await using bench = await openBench({ tools: [tool] })
      expect(await ask(bench, 'odd', {})).toEqual({ kind: 'unknown' })
      expect(await ask(bench, 'gone', {})).toEqual({ kind: 'unknown' })
    }
  })

  it('that writes files compares what is there', async () => {
    await using bench = await openBench()
    await bench.mount('tool-write', write)
    const args = { file_path: 'a.txt', content: 'one\n' }
    const found = async () => ask(bench, 'write', args)
    expect(await found()).toMatchObject({ text: 'a.txt does not exist: it was not written.' })
    await writeFile(join(bench.project, 'a.txt'), 'one\n')
    expect(await found()).toMatchObject({ text: 'a.txt holds exactly what was to be written.' })
    await writeFile(join(bench.project, 'a.txt'), 'on')
    expect(await found()).toMatchObject({
      text: 'a.txt holds something else than what was to be written.',
    })
  })
})
