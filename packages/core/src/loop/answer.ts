import type { Assembled } from '../model/index.ts'

/** What an attempt brought, once it is known to be one. */
export type Answer = Assembled

export type AnswerKind = 'calls' | 'final' | 'reasoning-only' | 'cut' | 'empty' | 'filtered'

/**
 * Says what an answer is. Providers disagree about finish reasons, so that the content counts:
 * calls are calls even after `stop`, and an answer that is only white space is none. What a filter
 * has cut is no answer however far it came, and nothing of it runs.
 */
export function classify(answer: Answer): AnswerKind {
  if (answer.finish === 'content-filter') return 'filtered'
  if (answer.finish === 'max-tokens') return 'cut'
  if (answer.content.some((part) => part.type === 'tool-call')) return 'calls'
  if (answer.hasText) return 'final'
  return answer.hasReasoning ? 'reasoning-only' : 'empty'
}
