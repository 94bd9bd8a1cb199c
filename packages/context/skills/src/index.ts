import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { inspectPlace } from '@cordage/core/agent'
import type { FileSystem } from '@cordage/core/environment'
import { definePlugin, scopeOf, type Plugin } from '@cordage/core/kernel'
import type { PromptInput } from '@cordage/core/prompt'
import { z } from 'zod'
import { AgentSkills, CHANGES, LIST } from './agent-skills.ts'
import { SkillFiles } from './skill-files.ts'
import { skillTool } from './skill-tool.ts'
import { statusText } from './status-text.ts'

const count = (min: number, value: number) => z.number().int().min(min).default(value)

const config = z.strictObject({
  roots: z
    .array(z.string())
    .default([])
    .describe(
      'Further directories of skills, from the project; they come after those of the project and ' +
        'before those of the person.',
    ),
  agentsHome: z
    .string()
    .optional()
    .describe('Where a person keeps what agents share: its `skills` come last. Default ~/.agents.'),
  maxTokens: count(100, 3_000).describe('Of the list of skills that the model is told.'),
  maxDescriptionChars: count(20, 300).describe('Of one skill in that list.'),
  // Stays under what the pipeline shows of a result, so that a body is never cut again.
  maxBodyChars: count(1_000, 28_000).describe('Of a skill that is loaded.'),
  lookEveryMs: count(0, 250).describe(
    'Files are not looked at more often within a turn; of more than 100 skills, each 100 add as much.',
  ),
})

type SkillsConfig = z.infer<typeof config>

/** One for all agents in a place: a child begins with what its parent has read. */
const filesOf = new WeakMap<FileSystem, SkillFiles>()

const plugin: Plugin<SkillsConfig> = definePlugin({
  name: 'context-skills',
  inject: ['prompt', 'tools', 'commands', 'fs', 'policy', 'agents', 'host'],
  config,
  apply(ctx, options) {
    const own = scopeOf(ctx)
    const files = filesOf.get(ctx.fs) ?? new SkillFiles(ctx.fs)
    filesOf.set(ctx.fs, files)
    const known = new Map<string, AgentSkills>()
    const { maxBodyChars, lookEveryMs } = options

    ctx.agents.onSpawn(ctx, async (agent) => {
      // A child has the row in a scope of its own.
      if (own && agent.scope !== own) return undefined
      const roots = rootsOf(agent.session.header.project, ctx.host.home, options)
      const limits = { maxBodyChars, lookEveryMs, limits: options }
      const skills = new AgentSkills({ ctx, agent, files, roots, ...limits })
      known.set(agent.id, skills)
      agent.scope.ctx.effect(() => () => known.delete(agent.id))
      const { length } = (await skills.refresh()).problems
      if (length === 0) return undefined
      return [`${length} of the skills cannot be used; /skills says why`]
    })
    for (const [id, stability, order] of [
      [LIST, 'per-session', 30],
      [CHANGES, 'volatile', 31],
    ] as const) {
      const render = async (input: PromptInput) => known.get(input.sessionId)?.render(id, input)
      ctx.prompt.context(ctx, { id, stability, order, render })
    }
    const agents = { get: (id: string) => known.get(id), list: () => [...known.values()] }
    ctx.tools.register(ctx, skillTool(agents, maxBodyChars))
    inspectPlace.use(ctx, async ({ project, mayRead }, next) => {
      const { problems } = await files.find(rootsOf(project, ctx.host.home, options), mayRead)
      return [...(await next()), ...problems]
    })
    ctx.commands.source(ctx, ({ id }) => known.get(id)?.refresh())
    ctx.commands.register(ctx, {
      name: 'skills',
      description: 'which skills there are, and which cannot be used and why',
      run: async (_, { id }) => {
        const skills = known.get(id)
        return { text: skills ? statusText(await skills.refresh(), skills.taken) : 'None.' }
      },
    })
  },
})

export default plugin

/** The directory that wins a name comes first. */
function rootsOf(project: string, home: string, options: SkillsConfig): string[] {
  const { roots, agentsHome = join(homedir(), '.agents') } = options
  const all = [
    join(project, '.cordage/skills'),
    join(project, '.agents/skills'),
    ...roots.map((root) => resolve(project, root)),
    join(home, 'skills'),
    join(agentsHome, 'skills'),
  ]
  return [...new Set(all)]
}
