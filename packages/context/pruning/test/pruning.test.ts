import compactionRow, { toolCallsPaired } from '@cordage/core/compaction'
import { textMessage } from '@cordage/core/message'
import {
  compactionEnd,
  compactionPrune,
  compactionStart,
  compactionSummary,
  requestAt,
  toolResult,
  type Session,
} from '@cordage/core/session'
import { handleIn } from '@cordage/core/tool'
import { afterEach, expect, it } from 'vitest'
import meter from '../../meter/src/index.ts'
import commands from '../../../core/src/command/index.ts'
import { openTalk, type Talk } from '../../spill/test/talk.ts'
import pruning from '../src/index.ts'

let talk: Talk
afterEach(() => talk[Symbol.asyncDispose]())

const open = async (config: Record<string, unknown> = {}, spill: Record<string, unknown> = {}) => {
  const rows = [commands, meter, compactionRow].map((plugin) => ({ plugin }))
  talk = await openTalk(spill, { rows: [...rows, { plugin: pruning, config }] })
}
const TEXT = Array.from({ length: 1_800 }, (_, at) => `line ${at} 第${at}行`).join('\n')
const resultTexts = () => {
  return talk.bench.session.surface.flatMap(({ message: { content } }) => {
    const [part] = content
    if (part?.type !== 'tool-result') return []
    return part.content.map((one) => (one.type === 'text' ? one.text : ''))
  })
}
const prunings = async () => (await talk.bench.facts()).filter(compactionPrune.is)

it('cuts results before a step that would be under pressure, and logs what it did', async () => {
  await open({ minWindowShare: 0.2, targetShare: 0.1 })
  for (let at = 0; at < 6; at += 1) await talk.speak(`${at} ${TEXT}`)
  const cut = (await prunings()).flatMap(({ data }) => data.replaced.map(({ seq }) => seq))
  expect(cut.length).toBeGreaterThan(1)
  expect(new Set(cut).size).toBe(cut.length)
  const { surface } = talk.bench.session
  expect(toolCallsPaired(surface.map(({ message }) => message))).toBe(true)
  const last = talk.bench.requests.at(-1)
  const { turn, step } = talk.bench.session.turn
  expect((await requestAt(await talk.bench.facts(), turn, step))?.messages).toEqual(last?.messages)
})

it('leaves a handle by which all of it is read again, after a restart too', async () => {
  await open({ keepRecentMessages: 0 })
  await talk.speak(TEXT)
  const { root, agent } = talk.bench
  const request = {
    trigger: 'manual',
    target: root.models.resolve(agent.choice.model),
    signal: new AbortController().signal,
  } as const
  const { pruned } = await root.compaction.compact(agent, request)
  expect(pruned).toBe(1)
  const handle = handleIn(resultTexts()[0] ?? '') ?? ''
  const restarted = await talk.restart()
  const first = await talk.page(handle)
  const second = await talk.page(handle, { offset: first.end })
  expect(first.text + second.text).toBe(TEXT)
  // The pages are long results as well; the other one is not cut again.
  expect((await root.compaction.compact(restarted, request)).pruned).toBe(2)
  expect((await root.compaction.compact(restarted, request)).pruned).toBe(0)
})

/** Puts a summary in the place of all that was said. */
async function forget(session: Session): Promise<void> {
  const said = session.surface.filter(({ message }) => message.role !== 'system')
  const range = { from: said[0]!.seq, to: said.at(-1)!.seq }
  const source = { kind: 'plugin', row: 'test', form: 'summary' } as const
  const message = textMessage('s', 'user', 'They spoke.', source)
  await session.append([
    compactionStart({ id: 'c' }),
    compactionSummary({ id: 'c', range, message }),
    compactionEnd({ id: 'c' }),
  ])
}

it('leaves where the whole is, so that no other fact is read for it', async () => {
  await open({ keepRecentMessages: 0 })
  for (let at = 0; at < 3; at += 1) await talk.speak(`${at} ${TEXT}`)
  const { root, agent } = talk.bench
  const target = root.models.resolve(agent.choice.model)
  const { signal } = new AbortController()
  await root.compaction.compact(agent, { trigger: 'manual', target, signal })
  const handle = handleIn(resultTexts()[1] ?? '') ?? ''
  const { session } = await talk.restart()
  await forget(session)
  const read = session.read.bind(session)
  const seen: number[] = []
  session.read = async function* (from) {
    for await (const fact of read(from)) {
      seen.push(fact.seq)
      yield fact
    }
  }
  expect((await talk.page(handle)).text).toMatch(/^1 line 0 /)
  const facts = await talk.bench.facts()
  expect(seen).toEqual([facts.filter(toolResult.is)[1]?.seq])
  await expect(talk.page('0123456789ab')).rejects.toThrow('SPILL_UNKNOWN')
  expect(seen).toHaveLength(1)
})

it('leaves the handle that spilling gave, which names the whole and not its ends', async () => {
  await open({ keepRecentMessages: 0 }, { maxResultBytes: 20_000 })
  const spilled = handleIn(await talk.speak(TEXT))
  const { root, agent } = talk.bench
  const target = root.models.resolve(agent.choice.model)
  const { signal } = new AbortController()
  expect((await root.compaction.compact(agent, { trigger: 'manual', target, signal })).pruned).toBe(
    1,
  )
  expect(handleIn(resultTexts()[0] ?? '')).toBe(spilled)
  expect((await talk.page(spilled ?? '')).bytes).toBe(Buffer.byteLength(TEXT))
})
