import { textMessage } from '@cordage/core/message'
import {
  inboxSplice,
  sessionTitle,
  turnEnd,
  turnStart,
  type SessionHeader,
} from '@cordage/core/session'
import type { Io } from '@cordage/core/store'
import { createJsonlStore, nodeIo } from '../../packages/stores/jsonl/src/index.ts'

/** The real disk, in a hurry: what a power cut would lose is of no use to a bench. */
export const hastyIo: Io = {
  ...nodeIo,
  open: async (path, mode) => ({ ...(await nodeIo.open(path, mode)), sync: async () => {} }),
  syncDirectory: async () => {},
  lock: async () => ({ takenOver: false, current: async () => true, release: async () => {} }),
}

export const optionsFor = (directory: string) =>
  ({ directory, segmentMaxBytes: 4 * 1024 * 1024, compression: 'zstd', io: hastyIo }) as const

/** Fills `directory` with sessions of a few facts each. */
export async function makeSessions(directory: string, count: number): Promise<void> {
  const store = createJsonlStore(optionsFor(directory))
  const header = (at: number): SessionHeader => {
    const id = `01K${String(at).padStart(8, '0')}`
    return { format: 1, id, createdAt: 1_760_000_000_000 + at, project: `/p/${at % 50}`, depth: 0 }
  }
  for (let at = 0; at < count; at += 1) {
    if (at % 32 === 0) await Promise.all(range(at, Math.min(at + 32, count)).map((n) => make(n)))
  }
  await store.close()

  async function make(at: number): Promise<void> {
    const log = await store.create(header(at))
    const message = textMessage('m', 'user', `Please fix number ${at}`, { kind: 'user' })
    const facts = [
      inboxSplice({ inserted: [{ queue: 'next-turn', message }], cause: 'send' }),
      sessionTitle({ title: `Fix number ${at}`, by: 'first-words' }),
      turnStart({ turn: 1 }),
      turnEnd({ turn: 1, reason: 'completed' }),
    ]
    await log.append(
      facts.map((fact, seq) => ({ ...fact, seq, time: at })),
      { sync: false },
    )
    await log.close()
  }
}
function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index)
}
