import { describeFailure, log } from '@cordage/core/kernel'
import { skillError } from './errors.ts'
import type { AgentSkills, AgentSkillsOptions } from './agent-skills.ts'
import { loadSkill, skillText } from './load.ts'
import type { Skill } from './skill-files.ts'

/** `/name` for each skill that people may load. */
export interface SkillCommands {
  /** Names that another command has, so that the skill has none. */
  readonly taken: readonly string[]
  update(skills: readonly Skill[]): Promise<void>
}

const MAX_DESCRIPTION_CHARS = 120

export function createSkillCommands(
  { ctx, agent, maxBodyChars }: AgentSkillsOptions,
  agentSkills: AgentSkills,
): SkillCommands {
  const own = new Map<string, { readonly skill: Skill; dispose(): unknown }>()
  let taken: string[] = []
  let last: readonly Skill[] | undefined

  const load = async (name: string, args: string) => {
    const { skills } = await agentSkills.refresh()
    const skill = skills.find((one) => one.name === name && one.forPeople)
    if (!skill) throw skillError('SKILL_UNKNOWN', { name, hint: 'It is gone.' })
    await using target = await ctx.fs.target(skill.path)
    if (!agentSkills.mayRead(target.path)) {
      const reason = 'it may not be read'
      throw skillError('SKILL_MALFORMED', { name, path: target.path, reason })
    }
    const text = skillText(await loadSkill(skill, target, maxBodyChars))
    return { task: `${`/${name} ${args}`.trim()}\n\n${text}` }
  }

  const add = async (skill: Skill): Promise<void> => {
    const { name, description } = skill
    const run = (args: string) => load(name, args)
    const words = description.replaceAll(/\s+/g, ' ').slice(0, MAX_DESCRIPTION_CHARS)
    // A plugin of its own, so that it can go while this one stays.
    const part = ctx.plugin({
      name: `skill ${name}`,
      apply: (child) => ctx.commands.register(child, { name, description: words, run }),
    })
    own.set(name, { skill, dispose: () => part.dispose() })
    try {
      await part
    } catch (error) {
      // Somebody took the name meanwhile: the skill can do without.
      own.delete(name)
      taken.push(name)
      log(ctx, 'warn', `/${name} is no command`, { error: describeFailure(error) })
    }
  }

  return {
    get taken() {
      return taken
    },
    async update(skills) {
      if (skills === last) return
      last = skills
      const wanted = skills.filter(({ forPeople }) => forPeople)
      for (const [name, { skill, dispose }] of own) {
        if (wanted.includes(skill)) continue
        own.delete(name)
        await dispose()
      }
      const others = new Set(ctx.commands.list(agent.scope).map(({ name }) => name))
      const fresh = wanted.filter(({ name }) => !own.has(name))
      taken = fresh.filter(({ name }) => others.has(name)).map(({ name }) => name)
      for (const skill of fresh) if (!others.has(skill.name)) await add(skill)
    },
  }
}
