import type { Agent } from '@cordage/core/agent'
import type { AnyPlugin } from '@cordage/core/kernel'
import { textOf } from '@cordage/core/message'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import local from '../../../environments/local/src/index.ts'
import bash from '../../../tools/bash/src/index.ts'
import grep from '../../../tools/grep/src/index.ts'
import read from '../../../tools/read/src/index.ts'
import write from '../../../tools/write/src/index.ts'
import { bench, call, say, type Bench, type Reply } from './boot.ts'

export type Call = readonly [tool: string, args: Readonly<Record<string, unknown>>]

/** A folder with `home` and `project`, and an agent that works there with real tools. */
export interface Project extends AsyncDisposable {
  readonly folder: string
  readonly bench: Bench
  put(path: string, text: string): Promise<void>
  /** One turn: a step for each call, then the end. */
  turn(...calls: readonly Call[]): Promise<void>
  /** Snapshots that stand before the model whose id begins so, in order. */
  told(prefix: string): [id: string, text: string][]
  /** Closes the agent and opens its session with another one. */
  resume(): Promise<Agent>
}

export interface ProjectOptions {
  readonly rows: readonly { plugin: AnyPlugin; config?: unknown }[]
  readonly files?: Readonly<Record<string, string>>
}

export async function openProject(options: ProjectOptions): Promise<Project> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'cordage-project-')))
  const put = async (path: string, text: string) => {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  const project = join(folder, 'project')
  await mkdir(project)
  for (const [path, text] of Object.entries(options.files ?? {})) await put(path, text)
  const replies: Reply[] = []
  const made = await bench(replies, {
    home: join(folder, 'home'),
    session: (root) => root.sessions.create({ project, depth: 0 }),
    rows: [...[local, bash, grep, read, write].map((plugin) => ({ plugin })), ...options.rows],
  })
  let agent = made.agent
  let calls = 0
  return {
    folder,
    bench: made,
    put,
    async turn(...asked) {
      for (const [name, args] of asked) {
        replies.push(call({ id: `c${(calls += 1)}`, name, arguments: JSON.stringify(args) }))
      }
      replies.push(say('done'))
      await agent.send('go', { wake: false })
      const outcome = await agent.wake()
      if (outcome?.reason !== 'completed') throw new Error(JSON.stringify(outcome))
    },
    told: (prefix) =>
      agent.session.surface.flatMap(({ contextId, message }): [string, string][] => {
        return contextId?.startsWith(prefix) ? [[contextId, textOf(message)]] : []
      }),
    async resume() {
      const { id, choice, authority } = agent
      await agent.close()
      const session = await made.root.sessions.open(id)
      agent = await made.root.agents.spawn({ session, choice, authority })
      return agent
    },
    async [Symbol.asyncDispose]() {
      await agent.close()
      await made.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
