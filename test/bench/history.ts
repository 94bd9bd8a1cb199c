import { textMessage } from '@cordage/core/message'
import { assistantMessage, userMessage, type NewFact, type Session } from '@cordage/core/session'
import type { Harness } from 'cordage'
import type { Place } from '../e2e/fixture/place.ts'

export const model = { provider: 'bench', model: 'steps' }

/** A session with so many messages, which nobody flushed. */
export async function makeSession(
  { ctx }: Harness,
  { project }: Place,
  messages: number,
): Promise<Session> {
  const session = await ctx.sessions.create({ project, depth: 0 })
  for (let at = 0; at < messages / 2; at += 1) await session.append(exchange(at), { sync: false })
  return session
}

/** A question and its answer, of some 300 characters each. */
export function exchange(at: number): NewFact[] {
  const turn = { turn: 1, step: 1, attempt: 1, finish: 'stop' }
  const source = { kind: 'model', ...model } as const
  const text = `Message ${at}: ${'some words of ordinary length '.repeat(10)}`
  return [
    userMessage({ message: textMessage(`u${at}`, 'user', text, { kind: 'user' }) }),
    assistantMessage({ ...turn, message: textMessage(`a${at}`, 'assistant', text, source) }),
  ]
}
