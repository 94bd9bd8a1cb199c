import type { Agent } from './agent.ts'
import { agentError } from './errors.ts'

export interface ChildLimits {
  /** How deep below an agent that a person started; 0 is none at all. */
  readonly maxDepth: number
  /** Live children, theirs too, of one agent that a person started. */
  readonly maxConcurrentChildren: number
}

interface Live {
  readonly running: readonly Agent[]
  /** The parent of each child that is being started. */
  readonly beginning: readonly Agent[]
}

/** Throws `SUBAGENT_DEPTH_EXCEEDED`, `SUBAGENT_CONCURRENT_BUDGET_EXCEEDED`: nobody waits in line. */
export function admitChild(parent: Agent, { running, beginning }: Live, limits: ChildLimits): void {
  const { maxDepth, maxConcurrentChildren } = limits
  // From its log, so that a child which a person resumes is no deeper and no less deep than before.
  const depth = parent.session.header.depth + 1
  if (depth > maxDepth) throw agentError('SUBAGENT_DEPTH_EXCEEDED', { depth, maxDepth })
  const root = rootOf(parent)
  const children = running.filter((agent) => agent !== root && rootOf(agent) === root)
  const live = children.length + beginning.filter((agent) => rootOf(agent) === root).length
  if (live < maxConcurrentChildren) return
  throw agentError('SUBAGENT_CONCURRENT_BUDGET_EXCEEDED', { live, maxConcurrentChildren })
}

function rootOf(agent: Agent): Agent {
  let root = agent
  while (root.parent) root = root.parent
  return root
}
