import { basename, dirname, join, relative, sep } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Agent } from '@cordage/core/agent'
import { describeFailure, log, type PluginContext } from '@cordage/core/kernel'
import { contains, type Effect } from '@cordage/core/policy'
import type { PromptInput } from '@cordage/core/prompt'
import { collect, directoriesTo } from './collect.ts'
import { fit, type Group } from './fit.ts'
import { groupText } from './group-text.ts'
import type { Judge, Reader } from './reader.ts'

export interface AgentInstructionsOptions {
  readonly ctx: PluginContext<'policy' | 'host'>
  readonly reader: Reader
  readonly agent: Agent
  readonly names: readonly string[]
  readonly maxBytes: number
  /** Called once for the id of each context that a deeper directory gives. */
  readonly found: (id: string) => void
}

/** Files are not looked at more often within a turn, unless a tool has touched one. */
const LOOK_MS = 250
const BELOW = 'instructions:'
/** What was brought in from elsewhere tells its own authors what to do. */
const FOREIGN = new Set(['.git', 'node_modules'])

/** What one agent is told to do by files: of its person, of its project, of where it has worked. */
export class AgentInstructions {
  readonly #options: AgentInstructionsOptions
  /** Relative to the project, found by what tools have touched. */
  readonly #below = new Set<string>()
  /** Contexts that may stand before the model. */
  readonly #told = new Set<string>()
  /** Framing takes longer than looking whether a file is still the same. */
  #last: { readonly groups: readonly Group[]; readonly texts: Map<string, string> } | undefined
  /** When and where the files were last looked at; not since one of them was touched. */
  #looked: { readonly at: number; readonly cwd: string } | undefined
  #texts: { readonly input: PromptInput; readonly all: Promise<Map<string, string>> } | undefined

  /** Goes on with what the log says that the model was told. */
  constructor(options: AgentInstructionsOptions) {
    this.#options = options
    const { surface, shadowedContexts } = options.agent.session
    const ids = surface.flatMap(({ contextId }) => contextId ?? [])
    for (const id of [...ids, ...shadowedContexts]) {
      this.#told.add(id)
      const name = id.slice(BELOW.length)
      // A log may come from elsewhere.
      if (id.startsWith(BELOW) && !name.split('/').includes('..')) this.#addBelow(name)
    }
  }

  /** The text of one context; that it is gone where the model was told what no longer holds. */
  async render(id: string, input: PromptInput): Promise<string | undefined> {
    // One reading of the files for all contexts of a step.
    if (this.#texts?.input !== input) this.#texts = { input, all: this.#write(input) }
    const text = (await this.#texts.all).get(id)
    if (text) {
      this.#told.add(id)
      return text
    }
    return this.#told.has(id) && this.#stands(id) ? `${titleOf(id)} are gone.` : undefined
  }

  /** Looks for files in the directories of what a call has used; never fails. */
  async touch(effects: readonly Effect[]): Promise<void> {
    try {
      for (const effect of effects) if ('path' in effect) await this.#look(effect.path)
    } catch (error) {
      const { ctx } = this.#options
      log(ctx, 'error', 'instructions were not looked for', { error: describeFailure(error) })
    }
  }

  async #look(path: string): Promise<void> {
    const { reader, agent } = this.#options
    const project = await reader.real(agent.session.header.project)
    if (this.#options.names.includes(basename(path))) this.#looked = undefined
    if (!contains(project, path)) return
    const inner = (await reader.isDirectory(path)) ? path : dirname(path)
    const known = directoriesTo(project, await reader.real(agent.session.cwd))
    for (const directory of directoriesTo(project, inner)) {
      const name = relative(project, directory).split(sep).join('/')
      if (name.split('/').some((part) => FOREIGN.has(part))) return
      if (known.includes(directory) || this.#below.has(name)) continue
      const { files } = await collect('', [directory], this.#collecting(project))
      if (files.length > 0) this.#addBelow(name)
    }
  }

  #addBelow(name: string): void {
    this.#looked = undefined
    this.#below.add(name)
    this.#options.found(BELOW + name)
  }

  /** The text of each context, empty where there is nothing to tell. */
  async #write({ project: given, cwd, step }: PromptInput): Promise<Map<string, string>> {
    const { reader, maxBytes, ctx } = this.#options
    const now = performance.now()
    const { at = -LOOK_MS, cwd: there } = this.#looked ?? {}
    if (step > 1 && this.#last && there === cwd && now - at < LOOK_MS) return this.#last.texts
    this.#looked = { at: now, cwd }
    const { home } = ctx.host
    const project = await reader.real(given)
    const collecting = this.#collecting(project)
    const below = [...this.#below].sort((a, b) => depthOf(a) - depthOf(b) || (a < b ? -1 : 1))
    const apart = new Set(below.map((name) => join(project, name)))
    const chain = directoriesTo(project, await reader.real(cwd)).filter((one) => !apart.has(one))
    const [user, ...groups] = await Promise.all([
      collect('instructions-user', [home], await this.#collectingHome(home)),
      collect('instructions', chain, collecting),
      ...below.map((name) => collect(BELOW + name, [join(project, name)], collecting)),
    ])
    const all = [user, ...groups]
    if (!this.#last || !isDeepStrictEqual(this.#last.groups, all)) {
      const texts = [...textsOf([user], maxBytes, home), ...textsOf(groups, maxBytes, project)]
      this.#last = { groups: all, texts: new Map(texts) }
    }
    return this.#last.texts
  }

  #collecting(project: string) {
    const { reader, names } = this.#options
    return { reader, names, project, judge: this.#judge }
  }

  /** A person's own files are read where they are; what they link to is asked about. */
  async #collectingHome(home: string) {
    const { reader, names } = this.#options
    const real = await reader.real(home)
    const judge: Judge = (path) => {
      return names.some((name) => path === join(real, name)) ? undefined : this.#judge(path)
    }
    return { reader, names, judge }
  }

  /** A name may be a link to anything: what it reaches is asked about, as for a tool. */
  readonly #judge: Judge = (path) => {
    const { ctx, agent } = this.#options
    const { authority, scope, session } = agent
    const { project } = session.header
    const actor = { sessionId: session.id, agentId: agent.id, project, authority, scope }
    const { answer } = ctx.policy.decide({ kind: 'fs:read', path }, actor)
    return answer === 'allow' ? undefined : 'not readable'
  }

  #stands(id: string): boolean {
    const { surface, shadowedContexts } = this.#options.agent.session
    const stands =
      !shadowedContexts.includes(id) && surface.some(({ contextId }) => contextId === id)
    if (!stands) this.#told.delete(id)
    return stands
  }
}

function titleOf(id: string): string {
  if (id === 'instructions-user') return 'The instructions of the person you work for'
  if (id === 'instructions') return 'The instructions of this project'
  return `The instructions for ${JSON.stringify(id.slice(BELOW.length))} and below`
}

function textsOf(groups: readonly Group[], maxBytes: number, root: string): [string, string][] {
  return fit(groups, maxBytes).map((group) => {
    const order = group.id === 'instructions-user' ? '' : ' Nearer files win over broader ones.'
    return [group.id, groupText(group, `${titleOf(group.id)}.${order}`, root)]
  })
}

function depthOf(name: string): number {
  return name.split('/').length
}
