import { scopeOf } from '@cordage/core/kernel'
import { defineTool, type Tool } from '@cordage/core/tool'
import { z } from 'zod'
import { delegate, type Report } from './delegate.ts'
import type { DelegationSettings, SubagentContext } from './settings.ts'
import { toolNames, type DelegationKind } from './tool-names.ts'

const parameters = z.strictObject({
  description: z.string().min(1).max(200).describe('A few words for people'),
  prompt: z.string().trim().min(1),
})

type Task = z.output<typeof parameters>

const descriptions: Readonly<Record<DelegationKind, string>> = {
  spawn:
    'Gives a task to a child agent and returns its report. It has your tools and permissions and ' +
    'nothing of this conversation: prompt says all it needs, and what to report. ' +
    'For work that stands alone and would fill your context.',
  fork:
    'As subagent, but the child knows this conversation up to the present turn; ' +
    'what came up in this turn belongs in prompt.',
}

/** A call is one child: it ends with the child's report. */
export function delegationTool(
  ctx: SubagentContext,
  kind: DelegationKind,
  settings: DelegationSettings,
): Tool<Task, Report> {
  return defineTool<Task, Report>({
    name: toolNames[kind],
    description: descriptions[kind],
    parameters,
    effects: () => [{ kind: 'spawn', preset: presetOf(ctx) }],
    execute: (task, run) => delegate(ctx, { ...task, kind }, run, settings),
    render: ({ text }) => text,
    concurrent: () => true,
    timeoutMs: settings.timeoutMs,
    title: ({ description }) => `${toolNames[kind]} ${description}`,
  })
}

/** A child gets the preset of the agent that has the tool. */
function presetOf(ctx: SubagentContext): string {
  const scope = scopeOf(ctx)
  const owner = scope && ctx.agents.list().find((agent) => agent.scope === scope)
  return owner?.preset ?? ctx.get('presets')?.default ?? ''
}
