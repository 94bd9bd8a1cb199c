import { openScope, type AnyPlugin } from '@cordage/core/kernel'
import { preExecute } from '@cordage/core/tool'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openToolBench, type AskedCall, type ToolBench } from './tool-run.ts'

export interface ToolsUnderTest {
  readonly plugin: AnyPlugin
  readonly config?: Readonly<Record<string, unknown>>
  /** Rows that it needs beyond those of the tool bench, by id. */
  readonly rows?: Readonly<Record<string, AnyPlugin>>
  /** Calls that succeed, at least one of each tool. */
  readonly calls: readonly AskedCall[]
  /** Makes the project what these calls expect of it. */
  readonly prepare?: (bench: ToolBench) => Promise<void>
}

const ROW = 'under-test'

/** What a model and the loop rely on of every tool. Call it at the top of a test file. */
export function toolContract(name: string, subject: ToolsUnderTest): void {
  describe(`${name} keeps the tool contract`, () => {
    let bench: ToolBench
    beforeEach(async () => {
      bench = await openToolBench({
        rows: { ...subject.rows, [ROW]: subject.plugin },
        config: { [ROW]: subject.config ?? {} },
      })
      await subject.prepare?.(bench)
    })
    afterEach(() => bench[Symbol.asyncDispose]())

    offerCases(subject, () => bench)
    const calls = subject.calls.map((call) => [call.name, JSON.stringify(call.args), call] as const)
    describe.each(calls)('%s %s', (_name, _text, call) => {
      callCases(call, () => bench)
    })
  })
}

function offerCases({ calls }: ToolsUnderTest, use: () => ToolBench): void {
  it('offers its tools with a description and an object of arguments, until it is gone', async () => {
    const { root, row } = use()
    const scope = openScope(root, 'contract')
    const model = { provider: 'p', model: 'm', input: ['text'] } as const
    const { specs: all, rows } = root.tools.resolve(scope, model)
    await scope.close()
    const specs = all.filter((spec) => rows.get(spec.name) === ROW)
    const others = all.filter((spec) => rows.get(spec.name) !== ROW)
    const names = [...new Set(calls.map((call) => call.name))].sort()
    expect(specs.map((spec) => spec.name).sort()).toEqual(names)
    for (const { description, parameters } of specs) {
      expect(description.length).toBeGreaterThan(10)
      expect(parameters).toMatchObject({ type: 'object' })
    }
    await row(ROW).dispose()
    expect(use().offered()).toEqual(others.map((spec) => spec.name).sort())
  })
}

function callCases({ name, args }: AskedCall, use: () => ToolBench): void {
  it('succeeds, says something and gives a value that is JSON', async () => {
    const answer = await use().call(name, args)
    expect(answer, answer.text).toMatchObject({ isError: false, code: undefined })
    expect(answer.content.length).toBeGreaterThan(0)
    expect(JSON.parse(JSON.stringify({ value: answer.value }))).toEqual({ value: answer.value })
  })

  it('refuses other arguments than it declares, before its body runs', async () => {
    const wrong = [[], 'text', { ...(args as object), 'no such member': 1 }]
    for (const bad of wrong) {
      expect(await use().call(name, bad)).toMatchObject({ isError: true, code: 'INVALID_ARGS' })
    }
  })

  it('does nothing when it is denied, and says so', async () => {
    const { root } = use()
    const undo = preExecute.use(root, () => ({ answer: 'deny', reason: 'the contract says no' }))
    const answer = await use().call(name, args)
    undo()
    expect(answer).toMatchObject({ isError: true, code: 'TOOL_DENIED', value: undefined })
    expect(answer.text).toContain('the contract says no')
  })

  it('is not started once the turn is cancelled', async () => {
    const answer = await use().call(name, args, AbortSignal.abort('cancelled'))
    expect(answer).toMatchObject({ isError: true, code: 'ABORTED_BEFORE_DISPATCH' })
  })
}
