import type { Agent } from '@cordage/core/agent'
import { log, type PluginContext } from '@cordage/core/kernel'
import { textOf } from '@cordage/core/message'
import type { PromptInput } from '@cordage/core/prompt'
import {
  catalogueOf,
  changesOf,
  readCatalogue,
  type Catalogue,
  type CatalogueLimits,
} from './catalogue.ts'
import { createSkillCommands, type SkillCommands } from './skill-commands.ts'
import type { MayRead, Skill, SkillFiles, SkillSet } from './skill-files.ts'

export const TOOL = 'skill'
export const LIST = 'skills'
export const CHANGES = 'skills-changes'

export interface AgentSkillsOptions {
  readonly ctx: PluginContext<'fs' | 'policy' | 'commands'>
  readonly agent: Agent
  readonly files: SkillFiles
  /** Directories, the one that wins a name first. */
  readonly roots: readonly string[]
  readonly limits: CatalogueLimits
  readonly maxBodyChars: number
  /** Files are not looked at more often within a turn, for each hundred of them. */
  readonly lookEveryMs: number
}

/** What there is to tell when there are these skills and the model was told so much. */
interface News {
  readonly set: SkillSet
  readonly loadable: boolean
  readonly told: Catalogue
  readonly changes: string
}

type Texts = Readonly<Record<typeof LIST | typeof CHANGES, string>>

/** The skills of one agent: which there are, and what the model was told of them. */
export class AgentSkills {
  readonly project: string
  readonly #options: AgentSkillsOptions
  readonly #commands: SkillCommands
  readonly #reported = new Set<string>()
  #set: SkillSet = { skills: [], problems: [] }
  #lookedAt = -Infinity
  #mark: string | undefined
  #told: Catalogue | undefined
  #news: News | undefined
  /** Whether changes may stand before the model. */
  #changesTold: boolean
  #texts: { readonly input: PromptInput; readonly all: Promise<Texts> } | undefined

  constructor(options: AgentSkillsOptions) {
    this.#options = options
    this.project = options.agent.session.header.project
    this.#commands = createSkillCommands(options, this)
    this.#changesTold = this.#lastText(CHANGES) !== undefined
  }

  get set(): SkillSet {
    return this.#set
  }

  get(name: string): Skill | undefined {
    return this.#set.skills.find((skill) => skill.name === name)
  }

  /** Looks at the files again, at most as often as somebody asks. */
  async refresh(): Promise<SkillSet> {
    const { files, roots } = this.#options
    const found = await files.find(roots, this.mayRead)
    // The same object as before is what says that nothing has changed.
    if (!isSame(found, this.#set)) {
      this.#set = found
      this.#report(found)
    }
    await this.#commands.update(this.#set.skills)
    return this.#set
  }

  /** The list, or what has changed since the model was told the list. */
  async render(id: keyof Texts, input: PromptInput): Promise<string> {
    if (this.#texts?.input !== input) this.#texts = { input, all: this.#write(input) }
    return (await this.#texts.all)[id]
  }

  /** People and models are shown what a tool could show them. */
  readonly mayRead: MayRead = (path) => {
    const { ctx, agent } = this.#options
    const { authority, scope, session } = agent
    const actor = { sessionId: session.id, agentId: agent.id, authority, scope }
    const effect = { kind: 'fs:read', path } as const
    return ctx.policy.decide(effect, { ...actor, project: this.project }).answer === 'allow'
  }

  get taken(): readonly string[] {
    return this.#commands.taken
  }

  async #write({ toolNames, step }: PromptInput): Promise<Texts> {
    const moved = await this.#haveMoved(step)
    // What may be read may have changed too.
    const set = step === 1 || moved ? await this.refresh() : this.#set
    // Without the tool, which may come a step later or be kept from the agent, none can be loaded.
    const loadable = toolNames.includes(TOOL)
    const skills = set.skills.filter(({ forModel }) => forModel && loadable)
    const told = this.#toldOf(skills)
    let news = this.#news
    if (news?.set !== set || news.told !== told || news.loadable !== loadable) {
      news = { set, loadable, ...newsOf(told, skills, this.#options.limits) }
    }
    this.#news = news
    this.#told = news.told
    return { [LIST]: news.told.text, [CHANGES]: this.#changes(news.changes) }
  }

  /** Looks before each turn, and within one as often as a watcher would: a look costs by the file. */
  async #haveMoved(step: number): Promise<boolean> {
    const now = performance.now()
    const hundreds = Math.max(1, this.#set.skills.length / 100)
    if (step > 1 && now - this.#lookedAt < this.#options.lookEveryMs * hundreds) return false
    this.#lookedAt = now
    const before = this.#mark
    this.#mark = await this.#options.files.mark(this.#options.roots)
    return this.#mark === undefined || this.#mark !== before
  }

  /** The list that stands before the model, or will. */
  #toldOf(skills: readonly Skill[]): Catalogue {
    const { session } = this.#options.agent
    const standing = session.shadowedContexts.includes(LIST) ? undefined : this.#told
    if (standing && standing.text !== '') return standing
    const logged = this.#told ? undefined : this.#lastText(LIST)
    if (logged !== undefined) return readCatalogue(logged, skills)
    return catalogueOf(skills, this.#options.limits)
  }

  /** Where earlier changes hold no more, that has to be said. */
  #changes(text: string): string {
    if (text !== '') this.#changesTold = true
    if (text !== '' || !this.#changesTold) return text
    this.#changesTold = this.#lastText(CHANGES) !== undefined
    return this.#changesTold ? 'The last list of skills holds as it is.' : ''
  }

  /** What the model was told last in a context that still stands before it. */
  #lastText(id: keyof Texts): string | undefined {
    const { surface, shadowedContexts } = this.#options.agent.session
    if (shadowedContexts.includes(id)) return undefined
    const last = surface.findLast(({ contextId }) => contextId === id)
    return last && textOf(last.message)
  }

  #report({ problems }: SkillSet): void {
    for (const { path, reason } of problems) {
      const key = `${path}\0${reason}`
      if (!this.#reported.has(key)) {
        log(this.#options.ctx, 'warn', 'a skill is not used', { path, reason })
      }
      this.#reported.add(key)
    }
  }
}

/** Where no less is news than there is, all there is is told anew. */
function newsOf(told: Catalogue, skills: readonly Skill[], limits: CatalogueLimits) {
  const { text, count } = changesOf(told, skills, limits)
  const anew = skills.length > 0 && count >= skills.length
  return anew ? { told: catalogueOf(skills, limits), changes: '' } : { told, changes: text }
}

/** Files that are the same give the same objects. */
function isSame(one: SkillSet, other: SkillSet): boolean {
  const { skills, problems } = other
  return (
    one.skills.length === skills.length &&
    one.problems.length === problems.length &&
    one.skills.every((skill, at) => skill === skills[at]) &&
    one.problems.every(({ path, reason }, at) => {
      return path === problems[at]?.path && reason === problems[at].reason
    })
  )
}
