import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRoot } from '@cordage/core/kernel'
import { textOf, toolCallsOf, type Message } from '@cordage/core/message'
import {
  assistantMessage,
  attemptFailed,
  compactionSummary,
  coreEvent,
  sessionImported,
  sessionTitle,
  SessionFold,
  toolCall,
  toolResult,
  turnEnd,
  turnStart,
  userMessage,
  type Fact,
} from '@cordage/core/session'
import { OpenSessions, systemClock } from '@cordage/core/store'
import { expect } from 'vitest'
import { MemoryStore } from '../../../stores/memory/src/memory-store.ts'
import type { ImportFormat } from '../src/import/entry.ts'
import type { ImportPlace } from '../src/import/import-place.ts'
import { importSource } from '../src/import/import-source.ts'
import { transcriptsAt } from '../src/import/recognise.ts'

const fixtures = join(import.meta.dirname, 'fixtures/import')

export const samples = {
  claude: join(fixtures, 'claude-code/5f0c3a52-8a3e-4a57-9d3e-2f6f1f0b7c11.jsonl'),
  codex: join(
    fixtures,
    'codex/2025/11/03/rollout-2025-11-03T09-00-00-019a4a5e-1111-7000-8000-0123456789ab.jsonl',
  ),
  oldCodex: join(fixtures, 'codex/2025/05/01/rollout-2025-05-01-0b1e7c2a.jsonl'),
  opencode: join(fixtures, 'opencode/storage/session/proj1/ses_5b1e2f00ffe.json'),
  opencodeExport: join(fixtures, 'opencode/export.json'),
  pi: join(
    fixtures,
    'pi/--home-ada-shop--/2025-11-03T09-00-00-000Z_c0ffee00-1111-4222-8333-444455556666.jsonl',
  ),
  dsh: join(fixtures, 'dsh/--home-ada-shop--/d5ae0000-1111/session.jsonl'),
  folder: fixtures,
} as const

const root = createRoot({ log: () => {} })

/** A store in memory to bring transcripts into, and a folder for those that a test makes. */
export interface Bench extends AsyncDisposable {
  readonly store: MemoryStore
  readonly place: ImportPlace
  readonly folder: string
  /** The results for the transcripts at a path. */
  bring(path: string, from?: ImportFormat): ReturnType<typeof importSource>
  /** Writes a file, and brings in what is in it. */
  bringLines(name: string, lines: readonly unknown[]): ReturnType<typeof importSource>
  facts(id: string): Promise<Fact[]>
}

export async function openBench(project?: string): Promise<Bench> {
  const store = new MemoryStore()
  const sessions = new OpenSessions(root, store, systemClock)
  const folder = await mkdtemp(join(tmpdir(), 'cordage-import-'))
  const projectOf = async (directory: string) => directory
  const place = { store, sessions, project, projectOf, cwd: '/here' }
  const bring = async (path: string, from?: ImportFormat) => {
    const [source] = await transcriptsAt(path, from)
    if (!source) throw new Error('nothing was recognised')
    return importSource(place, source)
  }
  return {
    store,
    place,
    folder,
    bring,
    async bringLines(name, lines) {
      const path = join(folder, name)
      await writeFile(path, linesText(lines))
      return bring(path)
    },
    async facts(id) {
      const log = await store.open(id, { mode: 'read' })
      const facts: Fact[] = []
      for await (const fact of log.read(0)) facts.push(fact)
      await log.close()
      return facts
    },
    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export function linesText(lines: readonly unknown[]): string {
  const texts = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)))
  return texts.map((line) => `${line}\n`).join('')
}

export async function linesOf(path: string): Promise<string[]> {
  return (await readFile(path, 'utf8')).trimEnd().split('\n')
}

/** A session as a few words for each thing that people see. */
export function story(facts: readonly Fact[]): string[] {
  return facts.flatMap((fact) => {
    if (turnStart.is(fact)) return [`turn ${fact.data.turn}`]
    if (userMessage.is(fact)) return [`${whoSaid(fact.data.message)}: ${shown(fact.data.message)}`]
    if (assistantMessage.is(fact)) return [`answer: ${shown(fact.data.message)}`]
    if (toolCall.is(fact)) return [`call ${fact.data.callId}: ${fact.data.name}`]
    if (toolResult.is(fact)) {
      const { callId, part, error } = fact.data
      return [`result ${callId}${part.isError ? ' !' : ''}: ${error?.code ?? textOf(part)}`]
    }
    if (attemptFailed.is(fact)) {
      const { error, partial } = fact.data
      return [`failed: ${error.message}${partial === undefined ? '' : ` (${partial})`}`]
    }
    if (compactionSummary.is(fact)) return [`summary: ${textOf(fact.data.message)}`]
    if (sessionTitle.is(fact)) return [`title: ${fact.data.title}`]
    if (turnEnd.is(fact)) return [`end: ${fact.data.reason}`]
    return []
  })
}

function whoSaid({ source }: Message): string {
  return source.kind === 'plugin' ? source.form : source.kind
}

function shown(message: Message): string {
  const parts = message.content.map((part) => {
    if (part.type === 'text') return part.text
    if (part.type === 'reasoning') return `(${part.text})`
    return `<${part.type}>`
  })
  return parts.join(' ').slice(0, 60).trimEnd()
}

/** What holds for every session that was brought in, whatever the transcript was. */
export function checkSession(facts: readonly Fact[]): SessionFold {
  const fold = new SessionFold()
  const ids = new Set<string>()
  const wrong: unknown[] = []
  for (const [index, fact] of facts.entries()) {
    if (fact.seq !== index || !Number.isSafeInteger(fact.time)) wrong.push(fact)
    const error = coreEvent(fact.type)?.schema.safeParse(fact.data).error
    if (error) wrong.push(fact, error)
    if (userMessage.is(fact) || assistantMessage.is(fact)) {
      if (ids.has(fact.data.message.id)) wrong.push(fact)
      ids.add(fact.data.message.id)
    }
    fold.add(fact)
  }
  expect(wrong).toEqual([])
  const { open, stepOpen, attemptOpen, unanswered } = fold.turn
  expect({ open, stepOpen, attemptOpen, unanswered, compactions: fold.openCompactions }).toEqual({
    open: false,
    stepOpen: false,
    attemptOpen: false,
    unanswered: [],
    compactions: [],
  })
  expect(facts.at(-1)?.type).toBe(sessionImported.type)
  expect(unpaired(fold)).toEqual([])
  return fold
}

/** Calls and results that do not stand together: behind an answer its results, in their order. */
export function unpaired({ surface }: SessionFold): string[] {
  const wrong: string[] = []
  const seen = new Set<string>()
  let asked: string[] = []
  for (const { message } of surface) {
    const [part] = message.content
    if (message.role === 'tool') {
      const next = asked.shift()
      if (part?.type !== 'tool-result' || part.callId !== next) wrong.push(`result of ${next}`)
      continue
    }
    wrong.push(...asked)
    asked = toolCallsOf(message).map(({ id }) => id)
    wrong.push(...asked.filter((id) => seen.has(id)))
    for (const id of asked) seen.add(id)
  }
  return [...wrong, ...asked]
}
