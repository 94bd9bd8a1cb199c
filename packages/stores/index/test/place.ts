import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createRoot,
  definePlugin,
  mount,
  own,
  type Mounted,
  type RootContext,
} from '@cordage/core/kernel'
import { textMessage, type Source } from '@cordage/core/message'
import { assistantMessage, userMessage, type NewFact, type Session } from '@cordage/core/session'
import sessions, { type EventHit, type SearchRequest } from '@cordage/core/store'
import store from '@cordage/store-jsonl'
import plugin from '../src/index.ts'

const model: Source = { kind: 'model', provider: 'p', model: 'm' }

/** What a person says, as a fact. */
export function said(text: string): NewFact {
  return userMessage({ message: textMessage('m', 'user', text, { kind: 'user' }) })
}

export function answered(text: string): NewFact {
  const message = textMessage('m', 'assistant', text, model)
  return assistantMessage({ turn: 1, step: 1, attempt: 1, finish: 'stop', message })
}

/** The rows under test over a store on the disk, as one process has them. */
export interface Process {
  readonly root: RootContext
  /** Where the hits are, as `<session>#<seq>`, best first. */
  find(text: string, more?: Omit<SearchRequest, 'text'>): Promise<string[]>
  hits(text: string, more?: Omit<SearchRequest, 'text'>): Promise<readonly EventHit[]>
  close(): Promise<void>
}

export interface Place extends AsyncDisposable {
  readonly home: string
  readonly index: string
  start(config?: object): Promise<Process>
  /** The words found in any file beside the sessions, whatever is kept of the index. */
  indexBytes(): Promise<string>
}

export async function makePlace(): Promise<Place> {
  const home = await mkdtemp(join(tmpdir(), 'cordage-index-'))
  const folder = join(home, 'sessions')
  const started: Process[] = []
  return {
    home,
    index: join(folder, 'search.db'),
    start: async (config = {}) => {
      const process = await startProcess(home, config)
      started.push(process)
      return process
    },
    indexBytes: async () => {
      const names = (await readdir(folder)).filter((name) => name.startsWith('search.db'))
      const files = names.map((name) => readFile(join(folder, name), 'latin1'))
      return (await Promise.all(files)).join('\n')
    },
    [Symbol.asyncDispose]: async () => {
      for (const process of started) await process.close()
      await rm(home, { recursive: true, force: true })
    },
  }
}

export async function startProcess(home: string, config: object): Promise<Process> {
  const root = createRoot({ log: () => {} })
  const host = definePlugin({
    name: 'host',
    provides: ['host'],
    apply: (ctx) => own(ctx, 'host', { env: {}, home, cwd: home, version: '0' }),
  })
  const rows: Mounted[] = []
  for (const [id, plugged] of Object.entries({ host, store, sessions, index: plugin })) {
    const row = mount(root, {
      id,
      plugin: plugged,
      config: id === 'index' ? config : {},
      timeoutMs: 20_000,
    })
    rows.unshift(row)
    const state = await row.settled()
    if (state.state !== 'active') throw new Error(`row ${id}: ${JSON.stringify(state)}`)
  }
  const hits: Process['hits'] = async (text, more = {}) => {
    return (await root.sessionQuery.events({ text, ...more })).hits
  }
  let closed: Promise<void> | undefined
  return {
    root,
    hits,
    find: async (text, more) => {
      return (await hits(text, more)).map(({ session, seq }) => `${session}#${seq}`)
    },
    close: () => (closed ??= closeRows(rows)),
  }
}

async function closeRows(rows: readonly { dispose(): Promise<unknown> }[]): Promise<void> {
  for (const row of rows) await row.dispose()
}

/** A session with these facts, closed again. */
export async function makeSession(
  { root }: Process,
  id: string,
  facts: readonly NewFact[],
  header: { project?: string; depth?: number } = {},
): Promise<void> {
  const session = await openNew(root, id, header)
  await session.append(facts)
  await session.close()
}

export function openNew(
  root: RootContext,
  id: string,
  { project = '/project', depth = 0 }: { project?: string; depth?: number } = {},
): Promise<Session> {
  return root.sessions.create({ id, project, depth })
}
