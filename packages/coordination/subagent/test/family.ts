import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ModelEvent, ModelRequest } from '@cordage/core/model'
import { textOf, type Message } from '@cordage/core/message'
import type { SessionSummary } from '@cordage/core/store'
import { bench, call, say, type Bench, type BenchOptions } from '../../../core/test/loop/boot.ts'
import jsonl from '../../../stores/jsonl/src/index.ts'
import subagent from '../src/index.ts'

export const stores = ['store-memory', 'store-jsonl'] as const

/** What an agent says to the last words of a person, of its parent or of a tool. */
export type Answer = (
  last: Message,
  request: ModelRequest,
  signal: AbortSignal,
) => readonly ModelEvent[] | AsyncIterable<ModelEvent>

export interface Family extends AsyncDisposable {
  readonly bench: Bench
  ask(text: string): Promise<string>
  /** Newest first, without the agent's own session. */
  children(): Promise<SessionSummary[]>
  /** What the model was last shown of each call, in order. */
  results(): readonly { readonly text: string; readonly isError: boolean }[]
}

export interface FamilyOptions extends Omit<BenchOptions, 'store'> {
  readonly store?: (typeof stores)[number]
  readonly config?: Record<string, unknown>
}

/** An agent with the tools, over a store, and a model that everybody of the family asks. */
export async function openFamily(answer: Answer, options: FamilyOptions = {}): Promise<Family> {
  const { store = 'store-memory', config = {}, rows = [], ...rest } = options
  const home = await mkdtemp(join(tmpdir(), 'cordage-family-'))
  const reply = async function* (request: ModelRequest, signal: AbortSignal) {
    const messages = request.messages.map(({ message }) => message)
    const last = messages.findLast(({ source }) => source.kind !== 'model')
    yield* last ? answer(last, request, signal) : say('nothing was asked')
  }
  const made = await bench(
    Array.from({ length: 60 }, () => reply),
    {
      ...rest,
      ...(store === 'store-jsonl'
        ? { store: { plugin: jsonl, config: { directory: join(home, 'sessions') } } }
        : {}),
      rows: [...rows, { plugin: subagent, config }],
    },
  )
  return {
    bench: made,
    async ask(text) {
      await made.agent.send(text, { wake: false })
      const outcome = await made.agent.wake()
      return outcome?.answer ? textOf(outcome.answer) : `no answer: ${outcome?.reason}`
    },
    async children() {
      const all = await made.root.store.list({ children: true })
      return all.filter(({ header }) => header.id !== made.session.id)
    },
    results: () =>
      made.session.surface.flatMap(({ message }) =>
        message.content.flatMap((part) =>
          part.type === 'tool-result' ? [{ text: textOf(part), isError: part.isError }] : [],
        ),
      ),
    async [Symbol.asyncDispose]() {
      await made.close()
      await rm(home, { recursive: true, force: true })
    },
  }
}

let calls = 0

/** One answer that asks for a child each. */
export const delegate = (
  name: 'subagent' | 'subagent_fork',
  ...prompts: readonly string[]
): readonly ModelEvent[] => {
  return call(
    ...prompts.map((prompt) => {
      const id = `call-${(calls += 1)}`
      return { id, name, arguments: JSON.stringify({ description: `does ${prompt}`, prompt }) }
    }),
  )
}

/** What a tool said to whoever called it. */
export const heard = ({ content }: Pick<Message, 'content'>): string =>
  content.map((part) => (part.type === 'tool-result' ? textOf(part) : '')).join('')

/** Whether a child is asked to do this. */
export const isTask = (last: Message, task: string): boolean =>
  last.source.kind === 'plugin' &&
  last.source.form === 'relay' &&
  textOf(last).endsWith(`\n\n${task}`)
