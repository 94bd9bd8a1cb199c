import { didYouMean } from '@cordage/core/error'
import { defineTool } from '@cordage/core/tool'
import { z } from 'zod'
import { TOOL, type AgentSkills } from './agent-skills.ts'
import { skillError } from './errors.ts'
import { loadSkill, skillText, type LoadedSkill } from './load.ts'
import type { Skill } from './skill-files.ts'

const parameters = z.strictObject({ name: z.string().min(1) })

type Arguments = z.output<typeof parameters>

export type SkillValue =
  | ({ readonly kind: 'skill' } & LoadedSkill)
  | {
      readonly kind: 'found'
      readonly skills: readonly { readonly name: string; readonly description: string }[]
      readonly total: number
    }

const MAX_FOUND = 20
const MAX_FOUND_CHARS = 300

/** The agents of a plugin. `list` is about all of them. */
export interface SkillAgents {
  get(sessionId: string): AgentSkills | undefined
  list(): readonly AgentSkills[]
}

/** Loads a skill by its name, else finds those that have all of the words. */
export function skillTool(agents: SkillAgents, maxBodyChars: number) {
  return defineTool<Arguments, SkillValue>({
    name: TOOL,
    description: 'Loads a skill. Files that it names are in its folder.',
    parameters,
    effects: ({ name }, { project }) => {
      const paths = agents.list().flatMap((agent) => {
        const skill = agent.project === project ? agent.get(name) : undefined
        return skill?.forModel ? skill.path : []
      })
      return [...new Set(paths)].map((path) => ({ kind: 'fs:read', path }))
    },
    execute: async ({ name }, run) => {
      const skills = agents.get(run.sessionId)?.set.skills ?? []
      const skill = skills.find((one) => one.name === name)
      if (!skill) return search(name, skills)
      if (!skill.forModel) throw skillError('SKILL_FOR_PEOPLE', { name })
      await using target = await run.fs.forRead(skill.path)
      return { kind: 'skill', ...(await loadSkill(skill, target, maxBodyChars)) }
    },
    render: (value) => (value.kind === 'skill' ? skillText(value) : renderFound(value)),
    concurrent: () => true,
    idempotent: true,
    when: () => {
      const offered = agents.list().some(({ set }) => set.skills.some(({ forModel }) => forModel))
      return offered || 'there are no skills'
    },
    title: ({ name }) => `skill ${name}`,
  })
}

function search(query: string, all: readonly Skill[]): SkillValue {
  const skills = all.filter(({ forModel }) => forModel)
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  const found = skills.filter(({ name, description, whenToUse = '' }) => {
    const text = `${name} ${description} ${whenToUse}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
  if (found.length === 0) {
    const names = skills.map(({ name }) => name)
    throw skillError('SKILL_UNKNOWN', { name: query, hint: didYouMean(query, names) ?? '' })
  }
  const shown = found.slice(0, MAX_FOUND).map(({ name, description }) => {
    return { name, description: description.replaceAll(/\s+/g, ' ').slice(0, MAX_FOUND_CHARS) }
  })
  return { kind: 'found', skills: shown, total: found.length }
}

function renderFound({ skills, total }: Extract<SkillValue, { kind: 'found' }>): string {
  const more = total > skills.length ? [`${total - skills.length} more: use other words.`] : []
  const lines = skills.map(({ name, description }) => `- ${name}: ${description}`)
  return ['No skill has that name. With these words:', ...lines, ...more].join('\n')
}
