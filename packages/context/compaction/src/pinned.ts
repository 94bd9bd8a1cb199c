import type { Pins as Contributed } from '@cordage/core/compaction'
import { textOf, toolCallsOf, type Message, type ToolCallPart } from '@cordage/core/message'
import type { PinnedFact, SurfaceEntry } from '@cordage/core/session'
import { handleOfText } from '@cordage/core/tool'
import {
  ACCEPTS,
  BLOCKS,
  CONFIRMS,
  DOUBTS,
  EXACT,
  INTERFACE,
  OBLIGES,
  OPEN_BOX,
  PROHIBITS,
  REQUIRES,
  TESTS,
  TICKED_BOX,
  UNBLOCKS,
} from './patterns.ts'
import { Pins } from './pins.ts'

const MAX_GOAL = 4_000
const MAX_LINE = 600
/** Of a text that is looked through for sentences. */
const MAX_READ = 50_000

export interface PinSource {
  /** What earlier summaries carried. */
  readonly earlier: readonly PinnedFact[]
  /** The older part of the history. */
  readonly entries: readonly SurfaceEntry[]
  /** A person says something in what stays. */
  readonly asksLater: boolean
  readonly contributed: Contributed
  readonly maxTokens: number
  readonly episodeId: string
}

/**
 * The facts of an older part of a history that no summary may lose, taken from what was said
 * without any model: those that earlier summaries carried, brought up to date by what came after.
 */
export function pinnedOf(source: PinSource): PinnedFact[] {
  const { entries, contributed, maxTokens, episodeId } = source
  const found = new Pins(stillCarried(source), episodeId)
  for (const facts of contributed.values()) for (const fact of facts ?? []) found.put(fact)
  const results = resultsOf(entries)
  for (const { seq, message } of entries) {
    if (message.source.kind === 'user') addSaid(found, seq, textOf(message))
    if (message.source.kind !== 'model') continue
    addTold(found, seq, textOf(message))
    for (const call of toolCallsOf(message)) addCall(found, seq, call, results.get(call.id))
  }
  addRequest(found, source)
  return found.within(maxTokens)
}

/** A contributor says anew what holds, unless it failed; what is gone holds no more. */
function stillCarried({ earlier, contributed }: PinSource): readonly PinnedFact[] {
  return earlier.filter(
    ({ by }) => by === undefined || (contributed.has(by) && contributed.get(by) === undefined),
  )
}

function addSaid(found: Pins, seq: number, text: string): void {
  if (!found.has('goal')) found.add('goal', found.cut(text.trim(), MAX_GOAL), seq)
  for (const line of sentences(text)) {
    const said = found.cut(line, MAX_LINE)
    if (PROHIBITS.test(line)) found.add('constraint', said, seq)
    else if (ACCEPTS.test(line)) found.add('acceptance', said, seq)
    else if (OBLIGES.test(line)) found.add('obligation', said, seq)
    else if (REQUIRES.test(line)) found.add('constraint', said, seq)
    if (isConfirmed(line)) found.add('fact', `${said} (the user, fact ${seq})`, seq)
    addBlocker(found, seq, line)
  }
  const read = text.slice(0, MAX_READ)
  for (const [exact] of read.matchAll(EXACT)) found.add('exact', exact.replace(/[.,]+$/, ''), seq)
  for (const [signature] of read.matchAll(INTERFACE)) found.add('interface', signature, seq)
}

/** What a person wants now, where no later message says it. */
function addRequest(found: Pins, { entries, asksLater }: PinSource): void {
  const last = entries.findLast(({ message }) => message.source.kind === 'user')
  if (last || asksLater) found.drop('request')
  if (!last || asksLater) return
  const said = textOf(last.message).trim()
  if (!found.has('goal', said)) found.add('request', found.cut(said, MAX_GOAL), last.seq)
}

/** Open boxes of the last list that has some; what is confirmed, owed or in the way; the end. */
function addTold(found: Pins, seq: number, text: string): void {
  const said = text.trim()
  if (said === '') return
  const open = [...said.matchAll(OPEN_BOX)].map(([, what = '']) => found.cut(what, MAX_LINE))
  if (open.length > 0 || TICKED_BOX.test(said)) found.drop('todo')
  for (const what of open) found.add('todo', what, seq)
  for (const line of sentences(said)) {
    if (isConfirmed(line)) found.add('fact', `${found.cut(line, MAX_LINE)} (fact ${seq})`, seq)
    if (OBLIGES.test(line)) found.add('obligation', found.cut(line, MAX_LINE), seq)
    addBlocker(found, seq, line)
  }
  for (const [signature] of said.slice(0, MAX_READ).matchAll(INTERFACE)) {
    found.add('interface', signature, seq)
  }
  found.drop('next')
  const end = (said.split(/\n\s*\n/u).at(-1) ?? said).trim()
  found.add('next', found.cut(end, MAX_LINE, 1), seq)
}

function isConfirmed(line: string): boolean {
  return CONFIRMS.test(line) && !DOUBTS.test(line)
}

function addBlocker(found: Pins, seq: number, line: string): void {
  if (UNBLOCKS.test(line)) found.drop('blocker')
  else if (BLOCKS.test(line)) found.add('blocker', found.cut(line, MAX_LINE), seq)
}

interface Result {
  readonly isError: boolean
  readonly text: string
}

function addCall(found: Pins, seq: number, call: ToolCallPart, result: Result | undefined): void {
  const subject = found.cut(subjectOf(call), MAX_LINE)
  const begins = `${call.name} ${subject}`.trim()
  found.drop('error', begins)
  if (result?.isError) found.add('error', `${begins}: ${firstLine(result.text)}`, seq)
  if (call.name === 'bash' && TESTS.test(subject)) {
    found.drop('test', `${subject}: `)
    found.add('test', `${subject}: ${outcomeOf(result)}`, seq)
  }
  if (result?.isError) return
  for (const path of changedBy(call)) {
    found.drop('file', `${path} `)
    found.add('file', `${path} (${call.name}, ${versionOf(call, result)}, fact ${seq})`, seq)
  }
}

function outcomeOf(result: Result | undefined): string {
  if (!result) return 'outcome unknown'
  const last = result.text.trimEnd().split('\n').at(-1) ?? ''
  return `${result.isError ? 'failed' : 'passed'}, ${last.trim().slice(0, 200)}`
}

/** What the log has of the version that a call left: the whole text, or what changed in it. */
function versionOf(call: ToolCallPart, result: Result | undefined): string {
  const { content } = parsed(call.arguments)
  if (call.name !== 'write' || typeof content !== 'string') {
    return result ? firstLine(result.text).replace(/:$/, '') : 'outcome unknown'
  }
  return `${Buffer.byteLength(content)} bytes of sha256 ${handleOfText(content)}`
}

/** The one argument that says what a call was about. */
function subjectOf({ arguments: text }: ToolCallPart): string {
  const args = parsed(text)
  const subject = args['command'] ?? args['file_path'] ?? args['path'] ?? args['pattern'] ?? ''
  return typeof subject === 'string' ? subject.replaceAll(/\s+/gu, ' ') : ''
}

function changedBy({ name, arguments: text }: ToolCallPart): string[] {
  const args = parsed(text)
  const path = args['file_path']
  if ((name === 'write' || name === 'edit') && typeof path === 'string') return [path]
  const patch = args['patch']
  if (name !== 'apply_patch' || typeof patch !== 'string') return []
  const headers = patch.matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gmu)
  return [...headers].map(([, file = '']) => file.trim())
}

function resultsOf(entries: readonly SurfaceEntry[]): Map<string, Result> {
  const results = new Map<string, Result>()
  for (const { message } of entries) {
    for (const part of message.content) {
      if (part.type !== 'tool-result') continue
      results.set(part.callId, {
        isError: part.isError,
        text: textOf(part as Pick<Message, 'content'>),
      })
    }
  }
  return results
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    // A model wrote it: what cannot be read says nothing of what the call was about.
    return {}
  }
}

/** Lines and sentences; of a text that is too long to be looked through, its two ends. */
function sentences(text: string): string[] {
  const half = MAX_READ / 2
  const read = text.length > MAX_READ ? `${text.slice(0, half)}\n${text.slice(-half)}` : text
  return read.split(/\n|(?<=[。！？!?])|(?<=\.)\s/u).map((line) => line.trim())
}

function firstLine(text: string): string {
  return (text.trim().split('\n')[0] ?? '').slice(0, 300)
}
