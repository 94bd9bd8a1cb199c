import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { attemptStart, canonical, digest } from '@cordage/core/session'
import { beforeAll, describe, expect, it } from 'vitest'
import type { WireApi } from '../../packages/kit/testkit/src/model-wire.ts'
import { bodiesOf, openStage, protocols, type Stage } from './stage.ts'

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

const calls = (...wanted: [name: string, args: unknown][]) =>
  wanted.map(([name, args], at) => ({
    id: `call_${at}`,
    name,
    // Arguments come in pieces, and the same ids in every answer.
    arguments: JSON.stringify(args).match(/.{1,7}/gsu) ?? [],
  }))

/** All that a conversation meets: tools that fail, images, restarts, another prompt and model. */
async function converse(stage: Stage, api: WireApi, other: WireApi): Promise<void> {
  await writeFile(join(stage.place.project, 'logo.png'), png)
  await writeFile(join(stage.place.project, '说明.md'), '# 购物车\n折扣以百分比表示。🛒\n')
  await stage.turn(
    '请修复失败的测试 — "quoted" \\ and\ttabbed',
    {
      reasoning: ['先看', '文件。'],
      replay: 'c2lnbmVk',
      text: ['我先', '看看。'],
      calls: calls(
        ['read', { file_path: 'logo.png' }],
        ['read', { file_path: 'no-such-file.js' }],
        ['read', { file_path: '说明.md' }],
      ),
    },
    { text: ['x'], calls: calls(['bash', { command: 'exit 3' }], ['nobody', { a: 1 }]) },
    { calls: calls(['edit', { file_path: 'src/cart.js' }]) },
    { text: ['完成了。'] },
  )
  stage.failNext()
  await stage.turn('Once more', { text: ['Yes.'], reasoning: ['Hm.'], replay: 'YWdhaW4=' })
  await stage.restart()
  await stage.turn('After a restart', { text: ['Still here.'] })
  stage.harness.ctx.prompt.section(stage.agent.scope.ctx, {
    id: 'proof',
    render: () => 'A rule that came later: answer in Chinese. 用中文回答。',
  })
  await stage.turn(
    'With another prompt',
    { calls: calls(['list', { path: '.' }]) },
    { text: ['好'] },
  )
  await writeFile(join(stage.place.project, 'AGENTS.md'), 'Never touch the tests.\n')
  stage.use(other, { effort: 'high' })
  await stage.turn('With another model', { text: ['Other.'], reasoning: ['…'], replay: 'b3RoZXI=' })
  stage.use(api)
  await stage.turn('And back', { text: ['Back.'] })
}

const pairs = protocols.map((api, at) => ({
  api,
  other: protocols[(at + 1) % protocols.length] as WireApi,
}))

describe.each(pairs)('requests over $api', ({ api, other }) => {
  let received: unknown[] = []
  let rebuilt: unknown[] = []
  let digests: (string | undefined)[] = []

  beforeAll(async () => {
    await using stage = await openStage(api)
    await converse(stage, api, other)
    // A harness that has sent nothing reads the log.
    await stage.restart()
    const { session } = stage.agent
    rebuilt = await bodiesOf(stage.harness, session)
    received = stage.peer.requests.map(({ body }) => body)
    for await (const fact of session.read(0)) {
      if (attemptStart.is(fact)) digests.push(fact.data.digest)
    }
  })

  it('are each rebuilt from the log alone, byte for byte in canonical JSON', () => {
    expect(received).toHaveLength(11)
    for (const met of [png.toString('base64'), '🛒', 'exit code 3', '用中文回答']) {
      expect(received.some((body) => canonical(body).includes(met))).toBe(true)
    }
    expect(rebuilt.map(canonical)).toEqual(received.map(canonical))
  })

  // The loop digests the text of the canonical JSON as if it were a value of its own.
  it('have the digest of their JSON in the log', () => {
    expect(digests).toEqual(received.map((body) => digest(JSON.stringify(body))))
  })
})
