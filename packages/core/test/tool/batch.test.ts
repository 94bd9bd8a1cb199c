import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { openBench } from './bench.ts'
import { makeTool } from './make-tool.ts'

/** Tools that note when they begin and end; `wait` takes 30 ms, `alone` is a barrier. */
function tracked() {
  const trail: string[] = []
  let now = 0
  let most = 0
  const body =
    (ms: number) =>
    async ({ text = '' }: { text?: string | undefined }) => {
      now += 1
      most = Math.max(most, now)
      trail.push(`${text}<`)
      await sleep(ms)
      now -= 1
      trail.push(`${text}>`)
      return text
    }
  const wait = makeTool('wait', body(30))
  const quick = makeTool('quick', body(1))
  const alone = makeTool('alone', body(5), { concurrent: () => false })
  return { trail, most: () => most, tools: [wait, quick, alone] }
}

describe('a batch', () => {
  it('overlaps concurrent calls up to the limit', async () => {
    const { most, tools } = tracked()
    await using bench = await openBench({ tools })
    const calls = ['a', 'b', 'c', 'd', 'e'].map((text) => ['wait', { text }] as const)
    const answers = await bench.run([...calls, ['quick', { text: 'q' }]], { maxParallel: 3 })
    expect(answers.map(({ value }) => value)).toEqual(['a', 'b', 'c', 'd', 'e', 'q'])
    expect(most()).toBe(3)
  })

  it('logs a result when its body ends, and answers in the order of the model', async () => {
    const slow = makeTool('slow', async () => {
      while (!(await bench.trail()).includes('tool/result fast')) await sleep(1)
      return 'slow'
    })
    const fast = makeTool('fast', async () => 'fast')
    await using bench = await openBench({ tools: [slow, fast] })
    const answers = await bench.run([
      ['slow', {}, 'slow'],
      ['fast', {}, 'fast'],
    ])
    expect(answers.map(({ value }) => value)).toEqual(['slow', 'fast'])
  })

  it('makes an exclusive call a barrier in the order of the model', async () => {
    const { trail, tools } = tracked()
    await using bench = await openBench({ tools })
    await bench.run([
      ['wait', { text: '1' }],
      ['alone', { text: '2' }],
      ['quick', { text: '3' }],
      ['alone', { text: '4' }],
      ['alone', { text: '5' }],
    ])
    expect(trail.join(' ')).toBe('1< 1> 2< 2> 3< 3> 4< 4> 5< 5>')
  })

  it('takes only exactly true for concurrent, and a throw for no', async () => {
    const { most, tools } = tracked()
    const [wait] = tools
    const odd = { ...wait!, name: 'odd', concurrent: () => JSON.parse('1') as boolean }
    const bad = {
      ...wait!,
      name: 'bad',
      concurrent: () => {
        throw new Error('no')
      },
    }
    await using bench = await openBench({ tools: [odd, bad] })
    await bench.run([
      ['odd', { text: '1' }],
      ['odd', { text: '2' }],
      ['bad', { text: '3' }],
      ['bad', { text: '4' }],
    ])
    expect(most()).toBe(1)
  })

  it('runs one at a time with a limit of 1', async () => {
    const { most, tools } = tracked()
    await using bench = await openBench({ tools })
    await bench.run(
      [
        ['quick', {}],
        ['quick', {}],
        ['quick', {}],
      ],
      { maxParallel: 1 },
    )
    expect(most()).toBe(1)
  })

  it('logs a call durably before its body, and its result before it resolves', async () => {
    const seen: string[][] = []
    const look = makeTool('look', async () => {
      seen.push(await bench.trail())
      return 'ok'
    })
    await using bench = await openBench({ tools: [look] })
    await bench.run([['look', {}, 'one']])
    expect(seen[0]).toContain('tool/call one')
    expect(seen[0]).not.toContain('tool/result one')
    expect(await bench.trail()).toContain('tool/result one')
  })

  it('gives one result each to a throw, a late throw, what is not JSON and a rejection', async () => {
    const cyclic: Record<string, unknown> = {}
    cyclic['self'] = cyclic
    const values: Record<string, unknown> = {
      nothing: undefined,
      cyclic,
      bigint: { n: 1n },
      nan: [Number.NaN],
      date: { at: new Date(0) },
      symbol: Symbol('s'),
    }
    const hostile = {
      get x() {
        throw new Error('getter')
      },
    }
    const tools = [
      makeTool('at_once', () => {
        throw new TypeError('at once')
      }),
      makeTool('string', () => Promise.reject('just text')),
      makeTool('hostile', async () => hostile),
      ...Object.entries(values).map(([name, value]) => makeTool(name, async () => value)),
    ]
    await using bench = await openBench({ tools })
    const answers = await bench.run(tools.map(({ name }) => [name, {}] as const))
    const codes = answers.map(({ code }) => code)
    expect(codes.slice(0, 2)).toEqual(['TOOL_FAILED', 'TOOL_FAILED'])
    expect(new Set(codes.slice(2))).toEqual(new Set(['INVALID_TOOL_OUTPUT']))
    expect(answers[0]?.text).toContain('TypeError: at once')
    expect(answers.every(({ isError }) => isError)).toBe(true)
  })

  it('keeps the value as it was returned, whatever is done to it later', async () => {
    const shared = { list: [1] }
    await using bench = await openBench({ tools: [makeTool('leak', async () => shared)] })
    const before = await bench.call('leak', {})
    shared.list.push(2)
    expect(before.value).toEqual({ list: [1] })
    expect((await bench.call('leak', {})).value).toEqual({ list: [1, 2] })
  })
})

describe('a log that cannot be written', () => {
  it('rejects the batch before any body, and once those that run have ended', async () => {
    const trail: string[] = []
    const closes = makeTool('closes', async () => {
      await bench.session.close()
      await sleep(10)
      trail.push('ended')
    })
    const next = makeTool('next', async () => trail.push('next'))
    await using bench = await openBench({ tools: [closes, next] })
    const batch = bench.run(
      [
        ['closes', {}],
        ['next', {}],
        ['next', {}],
      ],
      { maxParallel: 1 },
    )
    await expect(batch).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
    await expect(bench.call('next', {})).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
    expect(trail).toEqual(['ended'])
  })
})

describe('cancelling a batch', () => {
  it('stops what runs, starts nothing more, and answers every call once', async () => {
    const stop = new AbortController()
    const started: string[] = []
    const polite = makeTool('polite', async (_, run) => {
      started.push('polite')
      stop.abort(new Error('enough'))
      await sleep(5000, undefined, { signal: run.signal })
    })
    const partial = makeTool('partial', async (_, run) => {
      await new Promise((resolve) => run.signal.addEventListener('abort', resolve))
      return 'what there was'
    })
    const deaf = makeTool('deaf', () => new Promise(() => {}))
    const next = makeTool('next', async () => started.push('next'), { concurrent: () => false })
    await using bench = await openBench({ tools: [polite, partial, deaf, next] })
    const answers = await bench.run(
      [
        ['partial', {}],
        ['deaf', {}],
        ['polite', {}],
        ['next', {}, 'n1'],
        ['next', {}, 'n2'],
      ],
      { signal: stop.signal },
    )
    expect(answers.map(({ code, value }) => code ?? value)).toEqual([
      'what there was',
      'TOOL_OUTCOME_UNKNOWN',
      'ABORTED',
      'ABORTED_BEFORE_DISPATCH',
      'ABORTED_BEFORE_DISPATCH',
    ])
    expect(started).toEqual(['polite'])
    expect(await bench.trail()).not.toContain('tool/call n1')
  })

  it('drops what an abandoned body does later, and takes its files and processes away', async () => {
    const late = Promise.withResolvers<void>()
    const finished = Promise.withResolvers<void>()
    const outcome: string[] = []
    const stop = new AbortController()
    const deaf = makeTool(
      'deaf',
      async (_, run) => {
        const target = await run.fs.forWrite('a.txt')
        stop.abort()
        await late.promise
        run.progress('still here')
        for (const use of [
          () => target.write(Buffer.from('late'), {}),
          () => run.fs.forWrite('b.txt'),
          () => run.processes.start({ argv: ['touch', 'c.txt'] }),
          () => run.putBlob(Buffer.from('x')),
          () => run.setCwd('.'),
        ]) {
          outcome.push(
            await use().then(
              () => 'done',
              (error: { code: string }) => error.code,
            ),
          )
        }
        finished.resolve()
        return 'late'
      },
      {
        effects: () => [
          { kind: 'fs:write', path: 'a.txt' },
          { kind: 'process', argv: ['touch'], cwd: '.' },
        ],
      },
    )
    await using bench = await openBench({ tools: [deaf] })
    const answer = await bench.call('deaf', {}, { signal: stop.signal })
    expect(answer.code).toBe('TOOL_OUTCOME_UNKNOWN')
    const facts = await bench.facts()
    late.resolve()
    await finished.promise
    await sleep(5)
    expect(new Set(outcome)).toEqual(new Set(['TOOL_DENIED']))
    expect(outcome).toHaveLength(5)
    expect(await bench.facts()).toEqual(facts)
  })

  it('before it starts logs results only', async () => {
    await using bench = await openBench({ tools: [makeTool('a', async () => 'a')] })
    const signal = AbortSignal.abort()
    const answers = await bench.run(
      [
        ['a', {}],
        ['nope', {}],
      ],
      { signal },
    )
    expect(answers.map(({ code }) => code)).toEqual([
      'ABORTED_BEFORE_DISPATCH',
      'ABORTED_BEFORE_DISPATCH',
    ])
    expect((await bench.trail()).filter((line) => line.startsWith('tool/call'))).toEqual([])
  })

  it('lets a value returned within the grace period stand', async () => {
    const stop = new AbortController()
    const slow = makeTool('slow', async () => {
      stop.abort()
      await sleep(20)
      return 'done all the same'
    })
    await using bench = await openBench({ tools: [slow] })
    const answer = await bench.call('slow', {}, { signal: stop.signal })
    expect([answer.value, answer.isError]).toEqual(['done all the same', false])
  })
})

describe('a time limit', () => {
  it('stops a body that listens, and abandons one that does not', async () => {
    const polite = makeTool(
      'polite',
      async (_, run) => sleep(5000, undefined, { signal: run.signal }),
      { timeoutMs: 20 },
    )
    const deaf = makeTool('deaf', () => new Promise(() => {}), { timeoutMs: 20 })
    const own = makeTool(
      'own',
      async (_, run) => {
        await new Promise((resolve) => run.signal.addEventListener('abort', resolve))
        run.signal.throwIfAborted()
      },
      { timeoutMs: 20 },
    )
    const quick = makeTool('quick', async () => 'in time', { timeoutMs: 5000 })
    await using bench = await openBench({ tools: [polite, deaf, own, quick] })
    const answers = await bench.run([
      ['polite', {}],
      ['deaf', {}],
      ['own', {}],
      ['quick', {}],
    ])
    expect(answers.map(({ code, value }) => code ?? value)).toEqual([
      'TOOL_TIMEOUT',
      'TOOL_OUTCOME_UNKNOWN',
      'TOOL_TIMEOUT',
      'in time',
    ])
  })
})
