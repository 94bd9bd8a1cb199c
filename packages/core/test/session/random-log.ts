import {
  anyEvent,
  assistantMessage,
  attemptFailed,
  attemptStart,
  compactionEnd,
  compactionPrune,
  compactionStart,
  compactionSummary,
  contextMessage,
  defineEvent,
  inboxSplice,
  reasoningDropped,
  requestHeader,
  SessionFold,
  sessionDirectory,
  stepEnd,
  stepStart,
  systemMessage,
  toolCall,
  toolResult,
  turnEnd,
  turnStart,
  userMessage,
  type AnyEventDefinition,
  type Fact,
  type NewFact,
} from '@cordage/core/session'
import { textMessage, type ContentPart, type Message } from '@cordage/core/message'
import { z } from 'zod'

/** A plugin's kind of fact, known to the folds of the tests. */
export const counted = defineEvent({
  type: '@acme/counter/counted',
  schema: z.object({ by: z.number() }),
  initial: 0,
  reduce: (state, { data }) => state + data.by,
})

export const lookup = (type: string): AnyEventDefinition | undefined => {
  return type === counted.type ? anyEvent(counted) : undefined
}

export function factsOf(newFacts: readonly NewFact[], from = 0): Fact[] {
  return newFacts.map((fact, index) => ({ ...fact, seq: from + index, time: 1000 + index }))
}

export function foldOf(facts: readonly Fact[]): SessionFold {
  const fold = new SessionFold({ lookup })
  for (const fact of facts) fold.add(fact)
  return fold
}

const route = { provider: 'p', model: 'm' }
const user = { kind: 'user' } as const
const plugin = { kind: 'plugin', row: 'r', form: 'snapshot' } as const

/** Interprets numbers as choices: every list of numbers gives one valid log. */
export function logOf(choices: readonly number[]): Fact[] {
  return new LogWriter(choices).write()
}

class LogWriter {
  readonly #choices: number[]
  readonly #facts: Fact[] = []
  readonly #fold = new SessionFold({ lookup })
  #ids = 0

  constructor(choices: readonly number[]) {
    this.#choices = [...choices]
  }

  write(): Fact[] {
    for (let turn = 1; this.#choices.length > 0; turn += 1) this.#turn(turn)
    return this.#facts
  }

  #add(...newFacts: NewFact[]): void {
    for (const fact of factsOf(newFacts, this.#facts.length)) {
      this.#facts.push(fact)
      this.#fold.add(fact)
    }
  }

  #pick(bound: number): number {
    return (this.#choices.shift() ?? 0) % bound
  }

  #message(role: Message['role'], text = `text ${this.#ids}`): Message {
    return textMessage(this.#id(), role, text, role === 'user' ? user : plugin)
  }

  #id(): string {
    this.#ids += 1
    return `id${this.#ids}`
  }

  #turn(turn: number): void {
    const prompt = this.#message('user')
    this.#noise()
    this.#add(
      inboxSplice({ inserted: [{ queue: 'next-turn', message: prompt }], cause: 'send' }),
      turnStart({ turn }),
    )
    if (this.#pick(2) === 1) this.#compaction()
    this.#add(
      inboxSplice({ removed: [prompt.id], cause: 'claim' }),
      stepStart({ turn, step: 1 }),
      userMessage({ message: prompt }),
    )
    if (turn === 1)
      this.#add(requestHeader({ ...route, params: {}, tools: [], reason: 'initial', origin: [] }))
    for (let step = 1; this.#step(turn, step) && step < 6; step += 1) {
      this.#noise()
      this.#add(stepStart({ turn, step: step + 1 }))
    }
    this.#add(turnEnd({ turn, reason: 'completed' }))
  }

  /** Whether the model called tools. */
  #step(turn: number, step: number): boolean {
    const failures = this.#pick(3)
    const error = { code: 'TIMEOUT', message: 'late', retryable: true }
    for (let attempt = 1; attempt <= failures; attempt += 1) {
      this.#add(
        attemptStart({ turn, step, attempt }),
        ...(this.#pick(4) === 3 ? [reasoningDropped({ turn, step, attempt, ...route })] : []),
        attemptFailed({ turn, step, attempt, error }),
      )
    }
    const attempt = failures + 1
    const ids = Array.from({ length: this.#pick(4) }, () => `call${this.#pick(3)}`)
    const calls = ids.map((id): ContentPart => ({
      type: 'tool-call',
      id,
      name: 'do',
      arguments: '{}',
    }))
    const thought: ContentPart = { type: 'reasoning', text: 'hm', replay: { step } }
    const said: ContentPart[] = this.#pick(8) === 7 ? [] : [{ type: 'text', text: 'ok' }]
    const content = [...(this.#pick(2) === 1 ? [thought] : []), ...said, ...calls]
    const message: Message = {
      id: this.#id(),
      role: 'assistant',
      content,
      source: { kind: 'model', ...route },
    }
    this.#add(
      attemptStart({ turn, step, attempt }),
      assistantMessage({ turn, step, attempt, message, finish: 'stop', replay: { step } }),
    )
    this.#batch(turn, step, ids)
    this.#add(stepEnd({ turn, step }))
    return ids.length > 0
  }

  /** Calls start and end in any order. */
  #batch(turn: number, step: number, ids: readonly string[]): void {
    const waiting = [...ids]
    const running: string[] = []
    while (waiting.length + running.length > 0) {
      const start = waiting.length > 0 && (running.length === 0 || this.#pick(2) === 0)
      const from = start ? waiting : running
      const [callId = ''] = from.splice(this.#pick(from.length), 1)
      const call = { turn, step, callId, name: 'do' }
      if (start) {
        this.#add(toolCall({ ...call, arguments: '{}' }))
        running.push(callId)
      } else {
        const part = {
          type: 'tool-result' as const,
          callId,
          name: 'do',
          content: [],
          isError: false,
        }
        this.#add(toolResult({ ...call, messageId: this.#id(), part }))
      }
      if (this.#pick(5) === 4)
        this.#add(userMessage({ message: this.#message('user', 'meanwhile') }))
    }
  }

  #noise(): void {
    const placement = this.#pick(2) === 0 ? 'front' : 'in-history'
    const choices: (() => NewFact)[] = [
      () => systemMessage({ message: this.#message('system'), placement }),
      () => systemMessage({ message: this.#message('system', ''), placement }),
      () => contextMessage({ id: `c${this.#pick(2)}`, row: 'r', message: this.#message('user') }),
      () => ({ type: '@gone/plugin/fact', v: 1, data: { any: ['thing'] } }),
      () => ({ type: 'user/message', v: 99, data: { later: true } }),
      () => counted({ by: this.#pick(9) }),
      () => sessionDirectory({ cwd: `/d${this.#pick(9)}` }),
    ]
    for (let left = this.#pick(4); left > 0; left -= 1) {
      const make = choices[this.#pick(choices.length)]
      if (make) this.#add(make())
    }
  }

  #compaction(): void {
    const id = this.#id()
    this.#add(compactionStart({ id }))
    const { surface } = this.#fold
    const isTool = (index: number) => surface[index]?.message.role === 'tool'
    let from = this.#pick(Math.max(1, surface.length))
    while (isTool(from)) from -= 1
    let to = Math.min(surface.length - 1, from + this.#pick(6))
    while (isTool(to + 1)) to += 1
    const [first, last] = [surface[from], surface[to]]
    if (first && last && this.#pick(4) > 0) {
      const range = { from: first.seq, to: last.seq }
      this.#add(compactionSummary({ id, range, message: this.#message('user', 'summary') }))
    }
    const result = surface.find((entry) => entry.message.role === 'tool')
    if (result) this.#add(compactionPrune({ id, replaced: [{ seq: result.seq, text: 'cut' }] }))
    const error = this.#pick(3) === 0 ? { error: { code: 'X', message: 'no' } } : {}
    this.#add(compactionEnd({ id, ...error }))
  }
}
