import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Invocation, Terminal } from '@cordage/core/command'
import { definePlugin } from '@cordage/core/kernel'
import { textOf, typedOf } from '@cordage/core/message'
import { modelError } from '@cordage/core/model'
import { inboxSplice, requestHeader, turnEnd, turnStart } from '@cordage/core/session'
import { bench, call, say, type Bench, type Reply } from '../../../core/test/loop/boot.ts'
import commands from '../../../core/src/command/index.ts'
import local from '../../../environments/local/src/index.ts'
import retry from '../../../policies/retry/src/index.ts'
import headless from '../src/index.ts'

let project: string
let made: Bench
beforeEach(async () => {
  project = await realpath(await mkdtemp(join(tmpdir(), 'cordage-headless-')))
})
afterEach(async () => {
  await made.close()
  await rm(project, { recursive: true, force: true })
})

interface Said {
  out: string
  err: string
  code: number
}

async function start(replies: Reply[]): Promise<void> {
  made = await bench(replies, { rows: [{ plugin: local }, { plugin: headless }] })
}

async function run(
  given: Partial<Invocation> = {},
  terminal: Partial<Terminal> = {},
): Promise<Said> {
  const said = { out: '', err: '' }
  const code = await made.root.frontend.run({
    session: { kind: 'new' },
    cwd: project,
    ...(given.session ? {} : { model: 'test/model' }),
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
      ...terminal,
    },
    ...given,
  })
  return { ...said, code }
}

describe('a headless run', () => {
  it('says the answer on stdout alone and the rest on stderr', async () => {
    await start([say('你好，做完了。')])
    const { out, err, code } = await run({ task: 'hello' })
    expect({ out, code }).toEqual({ out: '你好，做完了。\n', code: 0 })
    expect(err).toMatch(/shell: unconfined/)
    expect(err).toMatch(/completed · 1 steps/)
    expect(err).not.toContain('你好')
  })

  it('says of each retry why and when, and what of it was charged for', async () => {
    const usage = { inputTokens: 9, outputTokens: 41 }
    const billed: Reply = async function* () {
      yield { type: 'text', text: 'half' }
      yield { type: 'usage', usage }
      throw modelError('SERVER', { model: 'test/model', reason: 'HTTP 503' })
    }
    const free: Reply = async function* () {
      throw modelError('RATE_LIMIT', { model: 'test/model' })
    }
    const config = { initialDelayMs: 1, maxDelayMs: 1 }
    const rows = [{ plugin: local }, { plugin: headless }, { plugin: retry, config }]
    made = await bench([billed, free, say('ok')], { rows })
    const { err } = await run({ task: 'hello' })
    expect(err).toMatch(/SERVER: .*\(again in 1 ms, 41 tokens of output were charged for\)/)
    expect(err).toMatch(/RATE_LIMIT: .*\(again in 1 ms\)/)
  })

  it('is silent on stderr with quiet', async () => {
    await start([say('ok')])
    expect(await run({ task: 'hello', quiet: true })).toEqual({ out: 'ok\n', err: '', code: 0 })
  })

  it('gives one JSON object, with usage and reason', async () => {
    await start([say('ok')])
    const { out } = await run({ task: 'hello', output: 'json' })
    expect(JSON.parse(out)).toMatchObject({
      type: 'result',
      reason: 'completed',
      answer: 'ok',
      model: 'test/model',
      usage: { inputTokens: 10, outputTokens: 2 },
    })
  })

  it('gives every fact and delta as a line of JSON, the result last', async () => {
    await start([say('ok')])
    const { out } = await run({ task: 'hello', output: 'stream-json' })
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { type?: string; kind?: string })
    expect(lines[0]).toMatchObject({ type: 'session/open', shell: 'unconfined' })
    expect(lines.some(({ kind }) => kind === 'delta')).toBe(true)
    expect(lines.map(({ type }) => type)).toContain('assistant/message')
    expect(lines.at(-1)).toMatchObject({ type: 'result' })
  })

  it('shows what models and tools wrote without letting it drive the terminal', async () => {
    await start([
      [
        { type: 'text', text: 'look \u001B]0;owned\u0007 here' },
        ...call({ id: 'a', name: 'no\u001B[2Jtool', arguments: '{}' }),
      ],
      say('done'),
    ])
    const { err } = await run({ task: 'hello' })
    // oxlint-disable-next-line no-control-regex
    expect(err).not.toMatch(/[\u0000-\u0008\u000B-\u001F]/)
    expect(err).toContain('look \\x1b]0;owned\\x07 here')
  })

  it('gives an answer as it is to a program, and harmless to a terminal', async () => {
    const text = 'a\tb\n\u001B]52;c;ZXZpbA==\u0007\u202Ec'
    await start([say(text), say(text)])
    expect((await run({ task: 'hello' })).out).toBe(`${text}\n`)
    const { out } = await run({ task: 'hello' }, { outIsTerminal: true })
    expect(out).toBe('a\tb\n\\x1b]52;c;ZXZpbA==\\x07\\x202ec\n')
  })

  it('ends with the code of what stopped it', async () => {
    const failing = (code: 'AUTH' | 'SERVER'): Reply =>
      async function* () {
        throw modelError(code, { model: 'test/model' })
      }
    await start([failing('AUTH'), failing('SERVER'), call({ id: 'a', name: 'x', arguments: '' })])
    const refused = await run({ task: 'a' })
    expect(refused).toMatchObject({ code: 77, out: '' })
    expect(refused.err).toMatch(/\[AUTH\]\nResume with: cordage resume \S+ "go on"/)
    expect(await run({ task: 'b' })).toMatchObject({ code: 75 })
    expect(await run({ task: 'c', limits: { maxSteps: 1 } })).toMatchObject({ code: 124 })
  })

  it('is cancelled by its signal', async () => {
    const abort = new AbortController()
    await start([
      async function* (_request, signal) {
        yield { type: 'text', text: 'working' }
        setTimeout(() => abort.abort('SIGTERM'), 10)
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
      },
    ])
    expect(await run({ task: 'long', signal: abort.signal })).toMatchObject({ code: 130 })
  })

  it('is cancelled by a signal that came before its turn', async () => {
    await start([say('never asked for')])
    const said = await run({ task: 'long', signal: AbortSignal.abort('SIGINT') })
    expect(said).toMatchObject({ code: 130, out: '' })
    expect(made.requests).toEqual([])
  })

  it('needs something to do', async () => {
    await start([])
    await expect(run()).rejects.toMatchObject({ code: 'TASK_MISSING' })
  })
})

describe('going on', () => {
  it('continues the latest session of the project, with the model it had', async () => {
    await mkdir(join(project, '.git'))
    await mkdir(join(project, 'deep/down'), { recursive: true })
    await start([say('one'), say('two')])
    await run({ task: 'first', model: 'test/special', cwd: join(project, 'deep') })
    const cwd = join(project, 'deep/down')
    const { code } = await run({ session: { kind: 'continue' }, task: 'second', cwd })
    expect(code).toBe(0)
    expect(made.requests[1]?.model).toBe('special')
    expect(await made.root.store.list({ project })).toMatchObject([{ title: 'first', turns: 2 }])
    expect(JSON.stringify(made.requests[1]?.messages)).toContain('first')
  })

  it('says so when there is nothing to continue', async () => {
    await start([])
    await expect(run({ session: { kind: 'continue' } })).rejects.toMatchObject({
      code: 'SESSION_NONE',
    })
  })

  it('goes on by itself with what was interrupted, and with what waits in the inbox', async () => {
    await start([say('went on'), say('took it')])
    const broken = await made.root.sessions.create({ project, depth: 0 })
    const notice = {
      id: 'n1',
      role: 'user',
      content: [{ type: 'text', text: 'A job has ended.' }],
      source: { kind: 'plugin', row: 'core-job', form: 'notice' },
    } as const
    await broken.append([
      turnStart({ turn: 1 }),
      inboxSplice({ inserted: [{ queue: 'next-step', message: notice }], cause: 'send' }),
    ])
    await broken.close()
    const resumed = await run({
      session: { kind: 'resume', id: broken.id },
      model: 'test/model',
    })
    expect(resumed).toMatchObject({ code: 0, out: 'went on\n' })
    expect(JSON.stringify(made.requests[0]?.messages)).toContain('You were interrupted')

    const queued = await made.root.sessions.create({ project, depth: 0 })
    const message = {
      id: 'm1',
      role: 'user',
      content: [{ type: 'text', text: 'waiting since yesterday' }],
      source: { kind: 'user' },
    } as const
    await queued.append([
      inboxSplice({ inserted: [{ queue: 'next-turn', message }], cause: 'send' }),
    ])
    await queued.close()
    const queuedRun = { session: { kind: 'resume', id: queued.id }, model: 'test/model' } as const
    expect(await run(queuedRun)).toMatchObject({ code: 0 })
    expect(JSON.stringify(made.requests[1]?.messages)).toContain('waiting since yesterday')
  })

  it('goes on with a turn that a limit cut short when it is told to, once', async () => {
    await start([say('went on')])
    const session = await made.root.sessions.create({ project, depth: 0 })
    await session.append([
      turnStart({ turn: 1 }),
      turnEnd({
        turn: 1,
        reason: 'budget',
        error: { code: 'BUDGET_EXCEEDED', message: 'used up' },
      }),
    ])
    await session.close()
    const again = { session: { kind: 'resume', id: session.id }, model: 'test/model' } as const
    await expect(run(again)).rejects.toMatchObject({ code: 'TASK_MISSING' })
    expect(await run({ ...again, interrupted: true })).toMatchObject({ code: 0, out: 'went on\n' })
    expect(JSON.stringify(made.requests[0]?.messages)).toContain('A budget was used up')
    await expect(run({ ...again, interrupted: true })).rejects.toMatchObject({
      code: 'NOTHING_INTERRUPTED',
    })
  })

  it('says which directory and tool are gone', async () => {
    await start([say('ok')])
    const session = await made.root.sessions.create({ project: join(project, 'gone'), depth: 0 })
    const tools = [{ name: 'telescope', description: 'Looks far.', parameters: {} }]
    const header = { provider: 'test', model: 'model', params: {}, tools, origin: [] }
    await session.append([requestHeader({ ...header, reason: 'initial' })])
    await session.close()
    const given = { session: { kind: 'resume', id: session.id }, task: 'x' } as const
    const { err } = await run({ ...given, model: 'test/model' })
    expect(err).toMatch(/notice: the directory .*gone is gone/)
    expect(err).toMatch(/notice: the tool telescope is gone/)
  })
})

it('warns once of a row that declares stable what changes from step to step', async () => {
  let steps = 0
  const ticking = definePlugin({
    name: 'ticking',
    inject: ['prompt'],
    apply: (ctx) => ctx.prompt.section(ctx, { id: 'clock', render: () => `Step ${steps++}` }),
  })
  const look = call({ id: 'c', name: 'look', arguments: '{}' })
  made = await bench([look, look, say('ok')], {
    rows: [{ plugin: local }, { plugin: headless }, { plugin: ticking }],
  })
  const { err } = await run({ task: 'x', model: 'test/model' })
  const warnings = err.split('\n').filter((line) => line.includes('declares stable'))
  expect(warnings).toEqual([
    '! row ticking changed its part "system: clock", which it declares stable',
  ])
})

describe('a title', () => {
  it('is the first words that were typed, in whole words and without a secret', async () => {
    made = await bench([say('ok')], {
      rows: [{ plugin: local }, { plugin: headless }],
      env: { OTHER_TOKEN: 'correct horse' },
    })
    const typed =
      'Find out what the service behind correct horse does with a request that comes late'
    await run({ task: `${typed}\n\ndiff --git`, typed })
    const [only] = await made.root.store.list({ project })
    expect(only?.title).toBe('Find out what the service behind [redacted] does with a…')
    expect(only?.firstWords).not.toContain('diff')
    const [asked] = made.requests
    expect(asked?.messages.map(({ message }) => textOf(message)).join()).toContain('diff')
    expect(asked?.messages.map(({ message }) => typedOf(message)).join('')).toBe(typed)
    expect(made.requests).toHaveLength(1)
  })
})

describe('a task in the form of a command', () => {
  const noting = definePlugin({
    name: 'noting',
    inject: ['commands'],
    apply(ctx) {
      ctx.commands.register(ctx, {
        name: 'note',
        description: 'notes something',
        run: (args) => ({ text: `noted: ${args}` }),
      })
      ctx.commands.register(ctx, {
        name: 'greet',
        description: 'has the agent greet',
        run: (name) => ({ task: `Say hello to ${name}.` }),
      })
    },
  })
  const rows = [{ plugin: local }, { plugin: headless }, { plugin: commands }, { plugin: noting }]

  it('is done without the model', async () => {
    made = await bench([], { rows })
    expect(await run({ task: '/note milk', quiet: true })).toEqual({
      out: 'noted: milk\n',
      err: '',
      code: 0,
    })
    const { out } = await run({ task: '/note milk', output: 'json' })
    const said = { type: 'result', reason: 'completed', answer: 'noted: milk', steps: 0 }
    expect(JSON.parse(out)).toMatchObject(said)
    expect(made.requests).toEqual([])
  })

  it('gives the agent the task that the command makes of it', async () => {
    made = await bench([say('Hello, Ada.')], { rows })
    expect(await run({ task: '/greet Ada' })).toMatchObject({ out: 'Hello, Ada.\n', code: 0 })
    const told = made.requests[0]?.messages.map(({ message }) => textOf(message)).join('\n')
    expect(told).toContain('Say hello to Ada.')
    expect(told).not.toContain('/greet')
  })

  it('is remembered as it was typed, and titles the session so', async () => {
    made = await bench([say('Hello, Ada.')], { rows })
    await run({ task: '/greet Ada' })
    const [only] = await made.root.store.list({ project })
    expect(only).toMatchObject({ title: '/greet Ada', firstWords: '/greet Ada' })
  })

  it('costs nothing when it is misspelt', async () => {
    made = await bench([say('never')], { rows })
    await expect(run({ task: '/nota milk' })).rejects.toMatchObject({ code: 'COMMAND_UNKNOWN' })
    expect(made.requests).toEqual([])
  })

  it('is a task like any other where nothing provides commands', async () => {
    await start([say('ok')])
    expect(await run({ task: '/note milk' })).toMatchObject({ out: 'ok\n', code: 0 })
  })
})
