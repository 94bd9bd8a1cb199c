import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { textOf, toolCallsOf } from '@cordage/core/message'
import type { ModelEvent, ModelRequest } from '@cordage/core/model'
import { compactionSummary } from '@cordage/core/session'
import { z } from 'zod'
import { call, type BenchOptions, type Reply } from '../../../core/test/loop/boot.ts'
import memory from '../../../context/memory/src/index.ts'
import { saying, snapshot, stage, type Stage } from '../../../context/compaction/test/stage.ts'
import jsonl from '../../../stores/jsonl/src/index.ts'
import retrieval from '../src/index.ts'

const TURNS = 2_000
const FILLER = 'What was found there takes some room to say, and somebody says it. '.repeat(10)
const QUESTION = 'And what was that?'
const CONSTRAINT = 'Never touch src/lexer.ts.'

let home: string
beforeAll(async () => (home = await mkdtemp(join(tmpdir(), 'cordage-recall-'))))
afterAll(() => rm(home, { recursive: true }))

/** A value that nobody could guess: a person says it, a model, or a tool gives it. */
const detail = (turn: number) => `K${turn}-${createHash('md5').update(`${turn}`).digest('hex')}`
const tellers = ['person', 'model', 'tool'] as const
const tellerOf = (turn: number) => (turn % 20 === 7 ? tellers[((turn - 7) / 20) % 3] : undefined)
const turns = Array.from({ length: TURNS }, (_, index) => index + 1)

const askedFor = (turn: number) =>
  `Turn ${turn}. ${turn === 1 ? CONSTRAINT : ''} ${tellerOf(turn) === 'person' ? detail(turn) : ''}`

/** The older part is summed up by words that say nothing of any detail. */
const recorded = async function* ({ messages }: ModelRequest, _signal?: AbortSignal) {
  const [last] = messages.slice(-1).map(({ message }) => message)
  const text = last ? textOf(last) : ''
  if (text.includes('<current_plan>')) return yield* saying(snapshot('nothing of it'), 100)
  const turn = Number(/^Turn (\d+)\./.exec(text)?.[1])
  if (tellerOf(turn) === 'tool' && last && toolCallsOf(last).length === 0) {
    return yield* call({ id: `look-${turn}`, name: 'look', arguments: `{"turn":${turn}}` })
  }
  yield* saying(`${tellerOf(turn) === 'model' ? detail(turn) : 'So be it.'} ${FILLER}`, 100)
}

function options(session?: string): BenchOptions {
  return {
    home,
    store: { plugin: jsonl },
    rows: [{ plugin: memory }, { plugin: retrieval }],
    tools: (add) => {
      const parameters = z.strictObject({ turn: z.number() })
      const execute = async ({ turn }: { turn: number }) => detail(turn)
      add({ name: 'look', description: 'Looks.', parameters, effects: () => [], execute })
    },
    ...(session ? { session: (root) => root.sessions.open(session) } : {}),
  }
}

async function withStage<T>(
  replies: Reply[],
  options: BenchOptions,
  work: (made: Stage) => Promise<T>,
): Promise<T> {
  const made = await stage(replies, {}, options)
  try {
    return await work(made)
  } finally {
    await made.close()
  }
}

/** What the tool gives in a turn of its own, whenever the history is summed up meanwhile. */
async function retrieve(made: Stage, replies: Reply[], args: object): Promise<string> {
  const id = `r${made.session.nextSeq}`
  const asks = call({ id, name: 'retrieve_memory', arguments: JSON.stringify(args) })
  const answer: Reply = (request, signal) => {
    const [last] = request.messages.slice(-1).map(({ message }) => message)
    return last && textOf(last) === QUESTION ? streamOf(asks) : recorded(request, signal)
  }
  replies.splice(0, Infinity, answer, answer, answer, answer)
  expect(await made.turn(QUESTION)).toMatchObject({ reason: 'completed' })
  const parts = made.session.surface.flatMap(({ message }) => message.content)
  const result = parts.findLast((part) => part.type === 'tool-result' && part.callId === id)
  return result?.type === 'tool-result' ? textOf(result) : ''
}

async function* streamOf(events: readonly ModelEvent[]) {
  yield* events
}

it(
  'of 2,000 turns each detail and each word of a person is had again, after a restart',
  { timeout: 600_000 },
  async () => {
    const session = await withStage(
      Array.from({ length: 2 * TURNS }, () => recorded),
      options(),
      async (made) => {
        for (const turn of turns) {
          expect(await made.turn(askedFor(turn))).toMatchObject({ reason: 'completed' })
        }
        expect(new Set(await made.ends())).toEqual(new Set(['ok']))
        return made.session.id
      },
    )
    const replies: Reply[] = []
    await withStage(replies, options(session), async (made) => {
      const visible = JSON.stringify(made.session.surface.map(({ message }) => message))
      const shown = made.texts()
      const { length: summaries } = made.session.state(compactionSummary)
      expect(visible).toContain(CONSTRAINT)
      expect(shown.join('').length).toBeLessThan(TURNS * FILLER.length * 0.1)

      const list = await retrieve(made, replies, { limit: 100 })
      const ids = [...list.matchAll(/^(e\d+): facts/gm)].map(([, id = '']) => id)
      expect(ids).toHaveLength(summaries)
      let read = ''
      for (const snapshot_id of ids) {
        for (let offset: string | undefined = '0'; offset !== undefined;) {
          const page = await retrieve(made, replies, {
            snapshot_id,
            offset: Number(offset),
            limit: 100,
          })
          read += `${page}\n`
          offset = /^More from offset (\d+) on\.$/m.exec(page)?.[1]
        }
      }
      const told = turns.filter((turn) => tellerOf(turn) !== undefined)
      const known = (turn: number) => `${read}${visible}`.includes(detail(turn))
      const lost = told.filter((turn) => !known(turn))
      const seen = told.filter((turn) => visible.includes(detail(turn)))
      console.log(
        `${TURNS} turns, ${summaries} summaries: ${seen.length} of ${told.length} details can be ` +
          `seen, ${told.length - lost.length} can be recalled`,
      )
      expect(lost).toEqual([])
      // Each message of a person stands in exactly one episode, or is there still.
      const places = [...read.matchAll(/^\[\d+\] user: Turn (\d+)\./gm)].map(([, at]) => at)
      const still = shown.flatMap((text) => /^Turn (\d+)\./.exec(text)?.[1] ?? [])
      expect([...places, ...still].map(Number)).toEqual(turns)
    })
  },
)
