import { textOf, toolCallsOf, type Message, type ToolCallPart } from '@cordage/core/message'
import { estimateTokens } from '@cordage/core/model'
import type { PinnedFact, SurfaceEntry } from '@cordage/core/session'

/** The kinds by importance, and how many of each are carried at most. */
const KINDS = {
  goal: 1,
  constraint: 40,
  acceptance: 20,
  todo: 40,
  next: 1,
  error: 8,
  test: 8,
  decision: 20,
  file: 60,
  exact: 60,
} as const

type Kind = keyof typeof KINDS

const FORBIDS = anyOf(
  /\b(?:never|do not|don['’]t|must not|mustn['’]t|may not|must|only|always|without|avoid)\b/,
  /不要|不得|不能|不许|禁止|必须|只能|务必|切勿/,
  /しないで|必ず|してはいけ/,
)
const ACCEPTS = anyOf(
  /\b(?:acceptance|done when|definition of done|should pass|must pass|expect(?:ed|s)?)\b/,
  /验收|完成标准|通过条件|受け入れ/,
)
const EXACT = anyOf(
  /`[^`\n]{2,200}`/,
  /https?:\/\/[^\s)\]}'"<>]+/,
  /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{12,64}\b/,
  /\b[A-Z][A-Z0-9]+-\d+\b/,
  /(?:\.{0,2}\/)?[\w.@-]+(?:\/[\w.@-]+)+/,
)
const TESTS = /\b(?:tests?|vitest|jest|mocha|pytest|tox|ctest|check|lint|tsc|npm t)\b/iu
const OPEN = /^\s*[-*]\s+\[ \]\s+(.+)$/gmu
const MAX_GOAL = 4_000
const MAX_LINE = 600

/**
 * The facts of an older part of a history that no summary may lose, taken from what was said
 * without any model: those that earlier summaries carried, brought up to date by what came after.
 */
export function pinnedOf(
  earlier: readonly PinnedFact[],
  entries: readonly SurfaceEntry[],
  maxTokens: number,
): PinnedFact[] {
  const found = new Pins(earlier)
  const results = resultsOf(entries)
  for (const { seq, message } of entries) {
    if (message.source.kind === 'user') addSaid(found, seq, textOf(message))
    if (message.source.kind !== 'model') continue
    addPlans(found, seq, textOf(message))
    for (const call of toolCallsOf(message)) addCall(found, seq, call, results.get(call.id))
  }
  return found.within(maxTokens)
}

/** What is carried, each text once for its kind; a later one of the same subject replaces it. */
class Pins {
  readonly #facts = new Map<string, PinnedFact>()

  constructor(earlier: readonly PinnedFact[]) {
    for (const fact of earlier) this.#facts.set(`${fact.kind} ${fact.text}`, fact)
  }

  has(kind: Kind): boolean {
    return [...this.#facts.values()].some((fact) => fact.kind === kind)
  }

  add(kind: Kind, text: string, seq: number): void {
    const said = text.trim()
    if (said === '') return
    const key = `${kind} ${said}`
    this.#facts.delete(key)
    this.#facts.set(key, { kind, text: said, seq })
  }

  /** Removes what is settled, by how its text begins. */
  drop(kind: Kind, beginning = ''): void {
    for (const [key, fact] of this.#facts) {
      if (fact.kind === kind && fact.text.startsWith(beginning)) this.#facts.delete(key)
    }
  }

  /** The newest of each kind, the most important kinds first, as far as the tokens go. */
  within(maxTokens: number): PinnedFact[] {
    const kept: PinnedFact[] = []
    let left = maxTokens
    for (const [kind, most] of Object.entries(KINDS)) {
      const own = [...this.#facts.values()].filter((fact) => fact.kind === kind)
      for (const fact of own.slice(-most).toReversed()) {
        left -= estimateTokens(fact.text)
        if (left >= 0) kept.push(fact)
      }
    }
    const others = [...this.#facts.values()].filter(({ kind }) => !Object.hasOwn(KINDS, kind))
    return [...kept, ...others]
  }
}

function addSaid(found: Pins, seq: number, text: string): void {
  if (!found.has('goal')) found.add('goal', text.slice(0, MAX_GOAL), seq)
  for (const line of sentences(text)) {
    if (FORBIDS.test(line)) found.add('constraint', line, seq)
    else if (ACCEPTS.test(line)) found.add('acceptance', line, seq)
  }
  for (const [exact] of text.slice(0, 50_000).matchAll(new RegExp(EXACT, 'giu')))
    found.add('exact', exact, seq)
}

/** Unticked boxes of the last list that has some, and the end of what was said last. */
function addPlans(found: Pins, seq: number, text: string): void {
  const said = text.trim()
  if (said === '') return
  const open = [...said.matchAll(OPEN)].map(([, what = '']) => what.slice(0, MAX_LINE))
  if (open.length > 0 || /\[[xX]\]/.test(said)) found.drop('todo')
  for (const what of open) found.add('todo', what, seq)
  found.drop('next')
  found.add('next', (said.split(/\n\s*\n/u).at(-1) ?? said).slice(-MAX_LINE), seq)
}

interface Result {
  readonly isError: boolean
  readonly text: string
}

function addCall(found: Pins, seq: number, call: ToolCallPart, result: Result | undefined): void {
  const subject = subjectOf(call)
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
    found.add('file', `${path} (${call.name}, fact ${seq})`, seq)
  }
}

function outcomeOf(result: Result | undefined): string {
  if (!result) return 'outcome unknown'
  const last = result.text.trimEnd().split('\n').at(-1) ?? ''
  return `${result.isError ? 'failed' : 'passed'}, ${last.trim().slice(0, 200)}`
}

/** The one argument that says what a call was about. */
function subjectOf({ arguments: text }: ToolCallPart): string {
  const args = parsed(text)
  const subject = args['command'] ?? args['file_path'] ?? args['path'] ?? args['pattern'] ?? ''
  return typeof subject === 'string' ? subject.replaceAll(/\s+/gu, ' ').slice(0, MAX_LINE) : ''
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

function sentences(text: string): string[] {
  return text
    .slice(0, 50_000)
    .split(/\n|(?<=[。！？!?])|(?<=\.)\s/u)
    .map((line) => line.trim().slice(0, MAX_LINE))
}

function firstLine(text: string): string {
  return (text.trim().split('\n')[0] ?? '').slice(0, 300)
}

function anyOf(...patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join('|'), 'iu')
}
