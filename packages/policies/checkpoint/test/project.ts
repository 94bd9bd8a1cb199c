import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Fact } from '@cordage/core/session'
import { bench, call, say, type Bench } from '../../../core/test/loop/boot.ts'
import environment from '../../../environments/local/src/index.ts'
import applyPatch from '../../../tools/apply-patch/src/index.ts'
import bash from '../../../tools/bash/src/index.ts'
import edit from '../../../tools/edit/src/index.ts'
import read from '../../../tools/read/src/index.ts'
import write from '../../../tools/write/src/index.ts'
import checkpoint, { type RewindPoint } from '../src/index.ts'

export type Asked = readonly [name: string, args: Record<string, unknown>]

/** A project on the disk and an agent in it, whose model asks for given calls. */
export interface Project extends AsyncDisposable {
  readonly made: Bench
  readonly directory: string
  /** Whatever a turn writes, below the directory. */
  at(name: string): string
  put(name: string, text: string | Uint8Array): Promise<void>
  text(name: string): Promise<string | undefined>
  /** One turn that makes these calls one after the other. Gives the texts of the results. */
  turn(...calls: Asked[]): Promise<string[]>
  facts(type: string): Promise<Fact<Record<string, unknown>>[]>
  /** States of the plan, by file name. */
  plan(to: RewindPoint): Promise<Record<string, string>>
  restore(to: RewindPoint, force?: boolean): Promise<Record<string, string>>
}

export async function openProject(config: { maxFileBytes?: number } = {}): Promise<Project> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'cordage-checkpoint-')))
  const replies: Parameters<typeof bench>[0] = []
  const rows = [environment, read, write, edit, applyPatch, bash]
  const made = await bench(replies, {
    rows: [...rows.map((plugin) => ({ plugin })), { plugin: checkpoint, config }],
    session: (root) => root.sessions.create({ project: directory, depth: 0 }),
  })
  let calls = 0
  const facts = async (type: string) => {
    return (await made.facts()).filter((fact) => fact.type === type) as Fact<
      Record<string, unknown>
    >[]
  }
  const named = (plans: readonly { path: string; state: string }[]) => {
    return Object.fromEntries(
      plans.map(({ path, state }) => [path.replace(`${directory}/`, ''), state]),
    )
  }
  return {
    made,
    directory,
    facts,
    at: (name) => join(directory, name),
    put: (name, text) => writeFile(join(directory, name), text),
    text: (name) => readFile(join(directory, name), 'utf8').catch(() => undefined),
    async turn(...asked) {
      const before = (await facts('tool/result')).length
      replies.push(
        ...asked.map(([name, args]) => {
          return call({ id: `call_${(calls += 1)}`, name, arguments: JSON.stringify(args) })
        }),
        say('done'),
      )
      await made.agent.send('go', { wake: false })
      const outcome = await made.agent.wake()
      if (outcome?.reason !== 'completed') throw new Error(JSON.stringify(outcome))
      return (await facts('tool/result')).slice(before).map(({ data }) => {
        const part = data['part'] as { content: { text: string }[] }
        return part.content.map(({ text }) => text).join('')
      })
    },
    plan: async (to) => named(await made.root.checkpoints.plan(made.session, to)),
    restore: async (to, force = false) => {
      return named(await made.root.checkpoints.restore(made.session, to, { force }))
    },
    async [Symbol.asyncDispose]() {
      await made.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
