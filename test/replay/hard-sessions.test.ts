import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runCli, startCli } from '../e2e/fixture/cli.ts'
import { makePlace, type Place } from '../e2e/fixture/place.ts'
import { latestSession } from '../e2e/fixture/read-log.ts'
import { scripts } from '../e2e/fixture/scripts.ts'
import { openStage, protocols, type Stage } from './stage.ts'
import type { WireApi } from '../../packages/kit/testkit/src/model-wire.ts'

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

const calls = (...wanted: [name: string, args: unknown][]) =>
  wanted.map(([name, args], at) => ({ id: `call_${at}`, name, arguments: [JSON.stringify(args)] }))

/** Images, long results, other models and efforts, steering, a cancellation, answers that are cut. */
async function converse(stage: Stage, api: WireApi, other: WireApi): Promise<void> {
  const { project } = stage.place
  await writeFile(join(project, 'logo.png'), png)
  await writeFile(join(project, 'long.txt'), 'all work and no play\n'.repeat(4_000))
  await stage.turn(
    'Look around',
    { calls: calls(['read', { file_path: 'logo.png' }], ['bash', { command: 'cat long.txt' }]) },
    { text: ['Half an ans'], finish: 'max-tokens' },
    { reasoning: ['Only thinking.'] },
    { text: ['Seen.'] },
  )
  stage.failNext()
  await stage.turn(
    'Again',
    { calls: calls(['bash', { command: 'mkdir -p a/b && cd a/b' }]) },
    {
      calls: calls(['write', { file_path: 'x.txt', content: 'x' }], ['edit', { nonsense: 1 }]),
    },
    { text: ['Done.'] },
  )
  await approved(stage)
  await cancelled(stage)
  await stage.restart()
  await steered(stage)
  stage.use(other, { effort: 'high' })
  await stage.turn('With another model', { text: ['Other.'], reasoning: ['…'], replay: 'b3RoZXI=' })
  stage.use(api)
  await stage.turn('And back', { calls: calls(['bash', { command: 'exit 3' }]) }, { text: ['!'] })
}

/** A person allows a file outside of the project for the session, and refuses another one. */
async function approved(stage: Stage): Promise<void> {
  const { ctx } = stage.harness
  ctx.approvals.answerer(ctx, async ({ effects }) => {
    const allowed = JSON.stringify(effects).includes('allowed.txt')
    return allowed
      ? { outcome: 'allowed', scope: 'session', by: 'test' }
      : { outcome: 'denied', by: 'test', reason: 'not there' }
  })
  const outside = (name: string) => join(stage.place.base, name)
  const write = (name: string) => calls(['write', { file_path: outside(name), content: 'x' }])
  await stage.turn(
    'Write outside',
    { calls: write('allowed.txt') },
    { calls: write('refused.txt') },
    { calls: write('allowed.txt') },
    { text: ['Wrote.'] },
  )
}

/** A turn that somebody ends while a command runs. */
async function cancelled(stage: Stage): Promise<void> {
  const { agent } = stage
  agent.session.watch(stage.harness.ctx, (update) => {
    if (update.kind !== 'fact' || update.fact.type !== 'tool/call') return
    if (JSON.stringify(update.fact.data).includes('sleep 30')) {
      setTimeout(() => void agent.cancel('enough'), 100)
    }
  })
  const outcome = await stage.turn('Sleep', { calls: calls(['bash', { command: 'sleep 30' }]) })
  expect(outcome.reason).toBe('aborted')
}

/** Somebody says something while a turn runs. */
async function steered(stage: Stage): Promise<void> {
  const { agent } = stage
  let said = false
  agent.session.watch(stage.harness.ctx, (update) => {
    if (said || update.kind !== 'fact' || update.fact.type !== 'tool/result') return
    said = true
    void agent.steer('By the way: be quick.')
  })
  await stage.turn('List', { calls: calls(['list', { path: '.' }]) }, { text: ['Quick.'] })
}

async function replay(place: Place, id: string, ...patch: string[]) {
  const ended = await runCli(place, ['replay', id, ...patch, '--output', 'json'])
  expect(ended.stderr).toBe('')
  return { code: ended.code, ...JSON.parse(ended.stdout) }
}

const pairs = protocols.map((api, at) => ({
  api,
  other: protocols[(at + 1) % protocols.length] as WireApi,
}))

it.each(pairs)('a session with all that happens over $api is replayed', async ({ api, other }) => {
  await using stage = await openStage(api)
  await converse(stage, api, other)
  const { id } = stage.agent.session
  const sent = stage.peer.requests.length
  await rm(join(stage.place.project, 'a'), { recursive: true })
  const report = await replay(stage.place, id, '--patch', join(stage.place.base, 'peer.patch.yml'))
  expect(report).toMatchObject({ code: 0, identical: true, turns: 7, divergences: [] })
  // All but the one that was tried again.
  expect(report.requests).toBe(sent - 1)
})

it('a session that was killed and went on is replayed', async () => {
  await using place = await makePlace('empty')
  const steps = [
    { calls: [{ name: 'bash', arguments: { command: 'echo started; sleep 30' } }] },
    { text: 'It was cut short.' },
  ]
  const patch = await scripts(place, { slow: { steps } })
  const run = startCli(place, [
    ...patch,
    '--model',
    'scripted/slow',
    '--output',
    'stream-json',
    'Go',
  ])
  while (!run.stdout().includes('tool/call') && run.child.exitCode === null) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  run.child.kill('SIGKILL')
  expect(await run.ended).toMatchObject({ code: null, signal: 'SIGKILL' })
  expect(await runCli(place, [...patch, 'continue'])).toMatchObject({ code: 0 })
  const report = await replay(place, latestSession(place.home), ...patch)
  expect(report).toMatchObject({ code: 0, identical: true, turns: 2, requests: 2 })
})
