import { randomBytes } from 'node:crypto'
import { textMessage } from '@cordage/core/message'
import {
  assistantMessage,
  attemptStart,
  compactionEnd,
  compactionStart,
  compactionSummary,
  inboxSplice,
  stepEnd,
  stepStart,
  toolCall,
  toolResult,
  turnEnd,
  turnStart,
  userMessage,
  type NewFact,
} from '@cordage/core/session'
import { LiveSession, systemClock, type Io } from '@cordage/core/store'
import { createJsonlStore } from '../../packages/stores/jsonl/src/index.ts'
import { hastyIo, optionsFor } from './many-sessions.ts'

export interface LongLog {
  readonly directory: string
  readonly facts: number
  /** Of each tool result; text that no compression makes small. */
  readonly resultBytes: number
  /** Turns between two compactions; without one the surface holds all that was ever said. */
  readonly compactEvery?: number
  readonly io?: Io
}

export const longId = '01KLONG'

/** Milliseconds that each append took, in order. The log is written by a session as it would be. */
export async function makeLongLog(plan: LongLog): Promise<number[]> {
  const store = createJsonlStore({ ...optionsFor(plan.directory), io: plan.io ?? hastyIo })
  const createdAt = Date.now()
  const header = { format: 1, id: longId, createdAt, project: '/p', depth: 0 } as const
  const session = await LiveSession.open(await store.create(header), {
    clock: systemClock,
    lookup: () => undefined,
  })
  const times: number[] = []
  for (let turn = 1; session.nextSeq < plan.facts; turn += 1) {
    for (const batch of turnOf(turn, plan.resultBytes)) {
      const begin = performance.now()
      await session.append(batch)
      times.push(performance.now() - begin)
    }
    if (plan.compactEvery !== undefined && turn % plan.compactEvery === 0) {
      const [first, last] = [session.surface[0], session.surface.at(-1)]
      await session.append(compaction(turn, first?.seq ?? 0, last?.seq ?? 0))
    }
  }
  await session.close()
  await store.close()
  return times
}

const route = { provider: 'p', model: 'm' }
const model = { kind: 'model', ...route } as const
const text = 'some words of ordinary length '.repeat(4)

/** One turn of two steps with a tool call, in the batches that the loop writes. */
function turnOf(turn: number, resultBytes: number): NewFact[][] {
  const prompt = textMessage(`u${turn}`, 'user', `${turn} ${text}`, { kind: 'user' })
  const [first, second] = [1, 2].map((step) => ({ turn, step }))
  const call = { ...first!, callId: `call_${turn}`, name: 'bash' }
  const asked = textMessage(`a${turn}`, 'assistant', text, model)
  const args = JSON.stringify({ command: `ls ${turn}` })
  const part = { type: 'tool-call', id: call.callId, name: 'bash', arguments: args } as const
  const output = randomBytes(resultBytes / 2).toString('hex')
  return [
    [
      inboxSplice({ inserted: [{ queue: 'next-turn', message: prompt }], cause: 'send' }),
      turnStart({ turn }),
    ],
    [
      inboxSplice({ removed: [prompt.id], cause: 'claim' }),
      stepStart(first!),
      userMessage({ message: prompt }),
      attemptStart({ ...first!, attempt: 1 }),
    ],
    [
      assistantMessage({
        ...first!,
        attempt: 1,
        finish: 'tool-calls',
        message: { ...asked, content: [...asked.content, part] },
      }),
      toolCall({ ...call, arguments: args }),
    ],
    [
      toolResult({
        ...call,
        messageId: `r${turn}`,
        part: {
          type: 'tool-result',
          callId: call.callId,
          name: 'bash',
          isError: false,
          content: [{ type: 'text', text: output }],
        },
      }),
      stepEnd(first!),
      stepStart(second!),
      attemptStart({ ...second!, attempt: 1 }),
    ],
    [
      assistantMessage({
        ...second!,
        attempt: 1,
        finish: 'stop',
        message: textMessage(`b${turn}`, 'assistant', text, model),
      }),
      stepEnd(second!),
      turnEnd({ turn, reason: 'completed' }),
    ],
  ]
}

function compaction(turn: number, from: number, to: number): NewFact[] {
  const id = `c${turn}`
  const message = textMessage(`s${turn}`, 'user', `Summary of ${turn}: ${text}`, {
    kind: 'plugin',
    row: 'compaction',
    form: 'notice',
  })
  return [
    compactionStart({ id }),
    compactionSummary({ id, range: { from, to }, message }),
    compactionEnd({ id }),
  ]
}
