import type { Invocation } from '@cordage/core/command'
import { definePlugin, type AnyPlugin } from '@cordage/core/kernel'
import { modelError, type ModelEvent, type ModelProvider } from '@cordage/core/model'
import { userMessage } from '@cordage/core/session'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { coreRows, openRowBench, type RowBench } from './core-rows.ts'

export interface FrontendUnderTest {
  readonly plugin: AnyPlugin
  readonly config?: Readonly<Record<string, unknown>>
  readonly rows?: Readonly<Record<string, AnyPlugin>>
}

interface Said {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** What the command line relies on of every `ctx.frontend`. Call it at the top of a test file. */
export function frontendContract(name: string, subject: FrontendUnderTest): void {
  describe(`${name} keeps the frontend contract`, () => {
    let bench: RowBench
    let project: string
    beforeEach(async () => {
      project = await realpath(await mkdtemp(join(tmpdir(), 'cordage-frontend-')))
      bench = await openRowBench()
      const others = { ...coreRows, ...subject.rows, 'model-contract': model }
      const rows = Object.entries(others).map(([id, plugin]) => [id, { plugin }])
      const { plugin, config = {} } = subject
      await bench.apply({ ...Object.fromEntries(rows), 'under-test': { plugin, config } })
    })
    afterEach(async () => {
      await bench[Symbol.asyncDispose]()
      await rm(project, { recursive: true, force: true })
    })
    taskCases(
      (given) => run(bench, { cwd: project, ...given }),
      () => bench,
    )
  })
}

function taskCases(run: (given: Partial<Invocation>) => Promise<Said>, use: () => RowBench): void {
  it('gives the answer, and nothing else, on stdout', async () => {
    expect(await run({ task: 'say' })).toMatchObject({ code: 0, out: 'the answer\n' })
  })

  it('gives one object in JSON', async () => {
    const { code, out } = await run({ task: 'say', output: 'json' })
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ type: 'result', answer: 'the answer' })
  })

  it('gives lines of JSON, the result last', async () => {
    const { out } = await run({ task: 'say', output: 'stream-json' })
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { type?: string })
    expect(lines.length).toBeGreaterThan(1)
    expect(lines.at(-1)).toMatchObject({ type: 'result', answer: 'the answer' })
  })

  it('ends with the code of what failed, without its words on stdout', async () => {
    expect(await run({ task: 'fail' })).toMatchObject({ code: 77, out: '' })
  })

  it('ends when it is told to, not with success, and leaves no agent', async () => {
    const controller = new AbortController()
    const running = run({ task: 'hang', signal: controller.signal })
    setTimeout(() => controller.abort('SIGINT'), 50)
    expect((await running).code).toBe(130)
    expect(use().root.agents.list()).toEqual([])
  })

  it('has in the log what was asked', async () => {
    await run({ task: 'say' })
    const { store } = use().root
    const [session] = await store.list()
    const log = await store.open(session?.header.id ?? 'none', { mode: 'read' })
    const types: string[] = []
    for await (const fact of log.read(0)) types.push(fact.type)
    await log.close()
    expect(types).toContain(userMessage.type)
  })
}

async function run({ root }: RowBench, given: Partial<Invocation>): Promise<Said> {
  const said = { out: '', err: '' }
  const code = await root.frontend.run({
    session: { kind: 'new' },
    cwd: root.host.cwd,
    model: 'contract/model',
    output: 'text',
    limits: {},
    quiet: false,
    takeOver: false,
    signal: new AbortController().signal,
    terminal: {
      out: (text) => void (said.out += text),
      err: (text) => void (said.err += text),
      outIsTerminal: false,
      errIsTerminal: false,
      columns: 80,
      color: false,
    },
    ...given,
  })
  return { ...said, code }
}

/** Does what the last message says: `say`, `fail` or `hang`. */
const provider: ModelProvider = {
  id: 'contract',
  displayName: 'Contract',
  api: 'contract',
  available: () => true,
  info: (id) => {
    return { id, contextWindow: 100_000, maxTokens: 1_000, input: ['text'], declared: true }
  },
  declared: () => [],
  list: async () => [],
  body: async ({ messages }) => ({ messages: messages.map(({ message }) => message) }),
  async *stream(request, _body, { signal }): AsyncIterable<ModelEvent> {
    const asked = JSON.stringify(request.messages.map(({ message }) => message.content))
    if (asked.includes('"fail"')) throw modelError('AUTH', { model: 'contract/model' })
    if (asked.includes('"hang"')) await untilAborted(signal)
    signal.throwIfAborted()
    yield { type: 'text', text: 'the answer' }
    yield { type: 'usage', usage: { inputTokens: 1, outputTokens: 1 } }
    yield { type: 'finish', reason: 'stop' }
  },
}

const model = definePlugin({
  name: 'model-contract',
  inject: ['models'],
  apply: (ctx) => ctx.models.register(ctx, provider),
})

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
