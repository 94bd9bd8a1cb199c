import type { Agent } from '@cordage/core/agent'
import type { SubagentContext } from './settings.ts'
import { toolNames } from './tool-names.ts'

/**
 * Hides the tools from an agent that may start no child, by its log alone: so it is when the
 * session is resumed or replayed.
 */
export function hideTools({ agents, tools }: SubagentContext, { scope, session }: Agent): void {
  const { depth, parent } = session.header
  // A fork is offered them all the same: with other tools its requests would begin otherwise than
  // its parent's, and nothing of them would be in the provider's cache.
  const isForked = depth > 0 && parent?.kind === 'fork'
  if (depth < agents.maxDepth || isForked) return
  tools.restrict(scope.ctx, Object.values(toolNames), `an agent of depth ${depth} starts no other`)
}
