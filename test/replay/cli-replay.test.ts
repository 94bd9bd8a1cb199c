import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  plainReply,
  startModelPeer,
  streamReply,
  type ModelPeer,
} from '../../packages/kit/testkit/src/model-peer.ts'
import {
  encodeAnswer,
  type WireAnswer,
  type WireApi,
} from '../../packages/kit/testkit/src/model-wire.ts'
import { makePlace, type Place } from '../e2e/fixture/place.ts'
import { latestSession } from '../e2e/fixture/read-log.ts'
import { runCli } from '../e2e/fixture/warm-cli.ts'
import { modelOf, overlay, protocols } from './stage.ts'

const calls = (...wanted: [name: string, args: unknown][]) =>
  wanted.map(([name, args], at) => ({ id: `call_${at}`, name, arguments: [JSON.stringify(args)] }))

/** Two turns that meet a retry, tools that fail, a file that changes, a denial and reasoning. */
const first: WireAnswer[] = [
  {
    reasoning: ['先看', 'the file.'],
    replay: 'c2lnbmVk',
    text: ['我先看看。🛒'],
    calls: calls(['read', { file_path: 'src/cart.js' }], ['read', { file_path: 'gone.js' }]),
  },
  { calls: calls(['bash', { command: 'echo hi; cd src' }], ['nobody', { a: 1 }]) },
  { calls: calls(['write', { file_path: '/etc/cordage-proof', content: 'x' }]) },
  { calls: calls(['edit', { file_path: 'src/cart.js' }], ['bash', { command: 'pwd' }]) },
  { text: ['Done.'] },
]
const second: WireAnswer[] = [
  { calls: calls(['list', { path: '.' }]) },
  { text: ['Twice.'], reasoning: ['Hm.'], replay: 'YWdhaW4=' },
]

interface Run {
  readonly place: Place
  readonly id: string
  readonly patch: string
}

async function record(peer: ModelPeer, api: WireApi): Promise<Run> {
  const place = await makePlace()
  const patch = join(place.base, 'peer.patch.yml')
  await writeFile(patch, JSON.stringify(overlay(peer.url)))
  const replies = [
    plainReply(503, { error: { message: 'busy' } }),
    ...[...first, ...second].map((answer) => streamReply(encodeAnswer(api, answer))),
  ]
  // Whoever asks once too often is told so, where the peer's own list keeps its last reply.
  peer.reply((response, request) => {
    const reply = replies.shift() ?? plainReply(400, { error: { message: 'nobody may ask' } })
    return reply(response, request)
  })
  const model = ['--patch', patch, '--model', modelOf(api)]
  expect(await runCli(place, [...model, '修复 the test'])).toMatchObject({ code: 0 })
  expect(await runCli(place, ['continue', ...model, 'Again'])).toMatchObject({ code: 0 })
  expect(replies).toHaveLength(0)
  return { place, patch, id: latestSession(place.home) }
}

interface Report {
  readonly identical: boolean
  readonly turns: number
  readonly requests: number
  readonly calls: number
  readonly surroundings: string[]
  readonly divergences: {
    readonly kind: string
    readonly turn: number
    readonly step: number
    readonly tool?: string
    readonly before: string
    readonly after: string
    readonly bytes?: { readonly offset: number; readonly where: string }
  }[]
  readonly bisection?: { readonly row?: string; readonly alone?: boolean; readonly replays: number }
}

async function replay({ place, id, patch }: Run, ...args: string[]) {
  const all = ['replay', id, '--patch', patch, ...args, '--output', 'json']
  const { code, stdout, stderr } = await runCli(place, all)
  expect(stderr).toBe('')
  return { code, ...(JSON.parse(stdout) as Report) }
}

/** An overlay beside the project; gives the arguments that add it. */
async function layer({ place }: Run, name: string, operations: unknown[]): Promise<string[]> {
  const file = join(place.base, `${name}.patch.yml`)
  await writeFile(file, JSON.stringify(operations))
  return ['--patch', file]
}

/** A row whose plugin does this with its context. */
async function plugin({ place }: Run, id: string, inject: string, body: string) {
  const file = join(place.base, `${id}.mjs`)
  const text = `export default { name: '${id}', inject: ['${inject}'], apply(ctx) { ${body} } }\n`
  await writeFile(file, text)
  return { id, name: file }
}

describe.each(protocols)('cordage replay of a session over %s', (api) => {
  let peer: ModelPeer
  let run: Run
  beforeAll(async () => {
    peer = await startModelPeer()
    run = await record(peer, api)
  }, 120_000)
  afterAll(async () => {
    await peer.close()
    await run.place[Symbol.asyncDispose]()
  })

  it('makes the same requests to the byte in an unchanged tree, and leaves nothing', async () => {
    const sent = peer.requests.length
    const sessions = await readdir(join(run.place.home, 'sessions'))
    const report = await replay(run)
    expect(report).toMatchObject({ code: 0, identical: true, divergences: [] })
    expect(report).toMatchObject({ turns: 2, requests: 7 })
    expect(peer.requests).toHaveLength(sent)
    expect(await readdir(join(run.place.home, 'sessions'))).toEqual(sessions)
  })

  it('takes from the log what is around, and names what is another now', async () => {
    await writeFile(join(run.place.project, 'AGENTS.md'), 'Be kind to carts.\n')
    const report = await replay(run)
    expect(report).toMatchObject({ code: 0, surroundings: ['instructions'] })
  })

  it('finds the byte at which a new section of the prompt begins', async () => {
    const body = `ctx.prompt.section(ctx, { id: 'house', order: 9, render: () => 'Be brief.' })`
    const row = await plugin(run, 'house', 'prompt', body)
    const added = await layer(run, 'house', [{ preset: 'standard', rows: [row] }])
    const { code, divergences } = await replay(run, ...added)
    expect(code).toBe(1)
    const [found] = divergences
    expect(found).toMatchObject({
      kind: 'request',
      turn: 1,
      step: 1,
      bytes: { where: 'system prompt, section "house" (row house), which is new' },
      after: expect.stringContaining('Be brief.'),
    })
    const text = peer.requests[0]?.text ?? ''
    const { offset = 0 } = found?.bytes ?? {}
    const around = Buffer.from(text).subarray(0, offset).toString()
    expect(text.slice(around.length - 60, around.length + 60)).toBe(found?.before)
  })

  it('names a tool that is gone, and whose it was', async () => {
    const gone = await layer(run, 'gone', [{ id: 'tool-grep', disabled: true }])
    const { divergences } = await replay(run, ...gone)
    expect(divergences).toMatchObject([
      { kind: 'request', bytes: { where: 'tool "grep" (row tool-grep), which is gone' } },
    ])
  })

  it('names a call that would be answered otherwise in the step that differs', async () => {
    const gone = await layer(run, 'no-read', [{ id: 'tool-read', disabled: true }])
    const { divergences } = await replay(run, ...gone)
    expect(divergences).toMatchObject([
      { kind: 'request', turn: 1, step: 1 },
      { kind: 'tool', turn: 1, step: 1, tool: 'read', before: 'ran' },
    ])
    expect(divergences[1]?.after).toContain('UNKNOWN_TOOL')
  })

  it('says which decision of the policy is another one', async () => {
    const body = `ctx.policy.rule(ctx, { id: 'quiet', decide: (effect) =>
      effect.kind === 'process' ? { answer: 'deny', rule: 'quiet', reason: 'no programs' } : undefined })`
    const rule = await layer(run, 'quiet', [
      { insert: [await plugin(run, 'quiet', 'policy', body)] },
    ])
    const { divergences } = await replay(run, ...rule)
    expect(divergences).toMatchObject([
      { kind: 'policy', turn: 1, step: 2, tool: 'bash', before: 'ran' },
    ])
    expect(divergences[0]?.after).toContain('no programs')
  })

  it('says which call that was refused would run now', async () => {
    const body = `ctx.policy.rule(ctx, { id: 'free', decide: (effect) =>
      effect.kind === 'fs:write' ? { answer: 'allow', rule: 'free', reason: 'all is free' } : undefined })`
    const rule = await layer(run, 'free', [{ insert: [await plugin(run, 'free', 'policy', body)] }])
    const { divergences } = await replay(run, ...rule)
    expect(divergences).toMatchObject([{ kind: 'policy', turn: 1, step: 3, tool: 'write' }])
    expect(divergences[0]?.before).toContain('asked')
  })
})

describe('cordage replay', () => {
  let peer: ModelPeer
  let run: Run
  beforeAll(async () => {
    peer = await startModelPeer()
    run = await record(peer, 'openai-completions')
  }, 120_000)
  afterAll(async () => {
    await peer.close()
    await run.place[Symbol.asyncDispose]()
  })

  it('finds among many rows the one that changes the outcome', async () => {
    const same = await Promise.all(
      ['one', 'two', 'three', 'four', 'five'].map((id) => plugin(run, id, 'tools', '')),
    )
    const many = await layer(run, 'many', [
      { insert: same.slice(0, 2) },
      { id: 'tool-glob', disabled: true },
      { insert: same.slice(2) },
    ])
    const { bisection } = await replay(run, ...many, '--bisect')
    expect(bisection).toMatchObject({ row: 'standard/tool-glob', alone: true })
    expect(bisection?.replays).toBeLessThanOrEqual(6)
  })

  it('says that a route writes other bytes, by the tree that the session had', async () => {
    const merge = { providers: { chat: { compat: { reasoningContent: 'none' } } } }
    const added = await layer(run, 'compat', [{ id: 'model-openai', merge }])
    const { divergences } = await replay(run, ...added)
    expect(divergences).toMatchObject([{ kind: 'request', turn: 1, step: 2 }])
    expect(divergences[0]?.before).toContain('reasoning_content')
    expect(divergences[0]?.after).not.toContain('reasoning_content')
  })

  it('says when a turn would be tried again or given up', async () => {
    const retry = [{ id: 'policy-retry', config: { maxRetries: 0, initialDelayMs: 1 } }]
    const { divergences } = await replay(run, ...(await layer(run, 'retry', retry)))
    expect(divergences).toMatchObject([{ kind: 'turn', turn: 1, step: 1 }])
    expect(divergences[0]).toMatchObject({
      before: expect.stringContaining('tries again'),
      after: expect.stringContaining('gives up'),
    })
  })

  it('tells people in words', async () => {
    const gone = await layer(run, 'gone', [{ id: 'tool-grep', disabled: true }])
    const args = ['replay', run.id, '--patch', run.patch, ...gone, '--bisect']
    const { code, stdout } = await runCli(run.place, args)
    expect(code).toBe(1)
    expect(stdout).toMatch(/^diverged in step 1\.1/)
    expect(stdout).toContain('request at byte')
    expect(stdout).toContain('the row "standard/tool-grep" alone changes the outcome')
  })
})
