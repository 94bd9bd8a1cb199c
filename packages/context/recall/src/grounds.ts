import { textOf, typedOf } from '@cordage/core/message'
import { toolResult, userMessage, type Fact } from '@cordage/core/session'
import { wordsIn } from '@cordage/core/search'
import type { MemorySource } from '@cordage/core/store'
import { recallError } from './errors.ts'

export interface Claim {
  readonly text: string
  readonly basis: 'user_said' | 'verified_fact'
  /** Words that the log has, which show it. */
  readonly source?: string | undefined
}

export type Grounds = Omit<MemorySource, 'session'>

/** Of a result, so much in a row is a copy. */
const COPY_CHARS = 100
/** Fewer words stand somewhere by chance. */
const MIN_SOURCE_WORDS = 2

/**
 * The newest fact of a log that bears a claim out. `ownTools` never do: what was recalled would
 * vouch for itself. Throws `MEMORY_NOT_SAID`, `MEMORY_UNVERIFIED`, `MEMORY_TOOL_OUTPUT`.
 */
export async function findGrounds(
  facts: AsyncIterable<Fact>,
  claim: Claim,
  ownTools: readonly string[],
): Promise<Grounds> {
  const source = plain(claim.source ?? '')
  if (claim.basis === 'verified_fact') assertSource(source)
  const isSource = (text: string) => claim.basis === 'verified_fact' && plain(text).includes(source)
  let grounds: Grounds | undefined
  for await (const fact of facts) {
    if (userMessage.is(fact)) {
      const typed = typedOf(fact.data.message)
      const isSaid = claim.basis === 'user_said' && isQuoted(claim.text, typed)
      if (isSaid || isSource(typed)) grounds = { seq: fact.seq, by: 'user' }
    } else if (toolResult.is(fact) && !ownTools.includes(fact.data.name)) {
      const { name: tool, part } = fact.data
      const output = textOf(part)
      if (isCopy(claim.text, output))
        throw recallError('MEMORY_TOOL_OUTPUT', { tool, seq: fact.seq })
      if (!part.isError && isSource(output)) grounds = { seq: fact.seq, by: tool }
    }
  }
  if (grounds) return grounds
  if (claim.basis === 'user_said') throw recallError('MEMORY_NOT_SAID')
  throw recallError('MEMORY_UNVERIFIED', { reason: 'nothing in this session holds its source' })
}

function assertSource(source: string): void {
  if (source === '') throw recallError('MEMORY_UNVERIFIED', { reason: 'it has no source' })
  if ([...wordsIn(source)].length >= MIN_SOURCE_WORDS) return
  throw recallError('MEMORY_UNVERIFIED', { reason: 'its source is too short to show anything' })
}

/** Whether a text is whole sentences of another one, so that no half of one says the opposite. */
function isQuoted(text: string, typed: string): boolean {
  const [sought, said] = [text, typed].map((one) => `\n${sentencesOf(one).join('\n')}\n`)
  return sought !== '\n\n' && said?.includes(sought ?? '') === true
}

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' })

function sentencesOf(text: string): string[] {
  const segments = linesOf(text).flatMap((line) => [...segmenter.segment(line)])
  return segments.map(({ segment }) => bare(segment)).filter((sentence) => sentence !== '')
}

/** What says no, before a colon, to the lines below. */
const NO = /\b(?:never|not?|avoid|stop|without)\b|n['’]t\b|[不别勿禁莫]|ない/iu

/**
 * A line that begins with a small letter goes on with a sentence, and a list down to an empty line
 * with what says no to it. What is quoted somebody else said.
 */
function linesOf(text: string): string[] {
  const lines: string[] = []
  let isRefused = false
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (line === '') isRefused = false
    if (line === '' || line.startsWith('>')) continue
    const before = isRefused || /^\p{Ll}/u.test(line) ? lines.pop() : undefined
    lines.push(before === undefined ? line : `${before} ${line}`)
    if (/[:：]$/.test(line) && NO.test(line)) isRefused = true
  }
  return lines
}

/** Without what stands around a sentence: the sign of a list, quotes, its stop. A question stays one. */
function bare(sentence: string): string {
  return plain(sentence).replaceAll(/^[\s*•"'“「-]+|(?<![\s.!。…"'”」])[\s.!。…"'”」]+$/gu, '')
}

function plain(text: string): string {
  return text.normalize('NFKC').toLowerCase().replaceAll(/\s+/gu, ' ').trim()
}

/** Whether a text holds a large part of an output, or all of one that is more than a few words. */
function isCopy(text: string, output: string): boolean {
  const [held, given] = [plain(text), plain(output)]
  if (given.length >= COPY_CHARS / 2 && held.includes(given)) return true
  // Windows side by side: every run of twice their length has one in it.
  for (let at = 0; at + COPY_CHARS <= held.length; at += COPY_CHARS) {
    if (given.includes(held.slice(at, at + COPY_CHARS))) return true
  }
  return false
}
