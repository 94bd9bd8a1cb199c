import type { Agent, TurnOutcome } from '@cordage/core/agent'
import { definePlugin, type AnyPlugin } from '@cordage/core/kernel'
import { textOf, type Message } from '@cordage/core/message'
import type { ModelProvider } from '@cordage/core/model'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { bench, say, type Bench, type Reply } from '../../../core/test/loop/boot.ts'
import local from '../../../environments/local/src/index.ts'
import jsonl from '../../../stores/jsonl/src/index.ts'
import spill from '../../spill/src/index.ts'
import references from '../src/index.ts'

/** A project, an agent whose person refers to things in it, and other sessions of the same home. */
export interface Stage extends AsyncDisposable {
  readonly folder: string
  readonly project: string
  readonly bench: Bench
  readonly agent: Agent
  readonly replies: Reply[]
  put(path: string, content: string | Uint8Array): Promise<void>
  /** Sends it and takes one turn. */
  say(text: string, options?: { readonly typed?: string }): Promise<TurnOutcome | undefined>
  /** What stands behind the last message of the person, as texts. */
  brought(): string[]
  messages(): Message[]
  /** Another session in which so much was said, in turns of two. */
  other(...said: string[]): Promise<string>
}

export interface StageOptions {
  readonly config?: Readonly<Record<string, unknown>>
  readonly spill?: boolean
  readonly references?: boolean
  readonly rows?: readonly { plugin: AnyPlugin; config?: unknown }[]
  readonly env?: Readonly<Record<string, string>>
  readonly window?: number
}

export async function openStage(options: StageOptions = {}): Promise<Stage> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'cordage-references-')))
  const project = join(folder, 'project')
  await mkdir(join(project, '.git'), { recursive: true })
  const replies: Reply[] = []
  const home = join(folder, 'home')
  const made = await bench(replies, {
    home,
    ...(options.env ? { env: options.env } : {}),
    store: { plugin: jsonl },
    session: (root) => root.sessions.create({ project, depth: 0 }),
    choice: { model: 'seeing/model' },
    rows: [
      { plugin: local },
      { plugin: seeing(replies, options.window) },
      ...(options.spill === false ? [] : [{ plugin: spill }]),
      ...(options.references === false
        ? []
        : [{ plugin: references, config: options.config ?? {} }]),
      ...(options.rows ?? []),
    ],
  })
  const { agent, session, root } = made
  const take = async (one: Agent, text: string, typed?: string) => {
    replies.push(say('ok'))
    await one.send(text, { wake: false, ...(typed === undefined ? {} : { typed }) })
    const outcome = await one.wake()
    if (outcome?.reason !== 'completed') replies.length = 0
    return outcome
  }
  const messages = () => session.surface.map(({ message }) => message)
  return {
    folder,
    project,
    bench: made,
    agent,
    replies,
    async put(path, content) {
      await mkdir(dirname(join(project, path)), { recursive: true })
      await writeFile(join(project, path), content)
    },
    say: (text, { typed } = {}) => take(agent, text, typed),
    messages,
    brought() {
      const all = messages()
      const last = all.findLastIndex(({ source }) => source.kind === 'user')
      const after = all.slice(last + 1)
      return after.filter(({ role }) => role === 'user').map(textOf)
    },
    async other(...said) {
      const session = await root.sessions.create({ project: '/elsewhere', depth: 0 })
      const { choice, authority } = agent
      const one = await root.agents.spawn({ session, choice, authority })
      for (let at = 0; at < said.length; at += 2) {
        replies.push(say(said[at + 1] ?? 'ok'))
        await one.send(said[at] ?? '', { wake: false })
        await one.wake()
      }
      await one.close()
      return session.id
    },
    async [Symbol.asyncDispose]() {
      await made.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** A model that takes images. */
function seeing(replies: Reply[], contextWindow = 100_000): AnyPlugin {
  const provider: ModelProvider = {
    id: 'seeing',
    displayName: 'Seeing',
    api: 'test',
    available: () => true,
    info: (id) => ({
      id,
      contextWindow,
      maxTokens: 1_000,
      input: id === 'blind' ? ['text'] : ['text', 'image'],
      declared: true,
    }),
    declared: () => [],
    list: async () => [],
    body: async ({ model, messages }) => ({
      model,
      messages: messages.map(({ message }) => message),
    }),
    async *stream(request, _body, { signal }) {
      const reply = replies.shift()
      if (!reply) throw new Error('the test has no reply left')
      yield* typeof reply === 'function' ? reply(request, signal) : reply
    },
  }
  return definePlugin({
    name: 'seeing',
    inject: ['models'],
    apply: (ctx) => ctx.models.register(ctx, provider),
  })
}
