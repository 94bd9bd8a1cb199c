import type { CompressContext, CompressResult } from '@cordage/core/compaction'
import { estimateTokens, estimateTool } from '@cordage/core/model'
import type { PinnedFact, Session, SurfaceEntry } from '@cordage/core/session'
import type { Budget } from './budget.ts'
import { tokensOf } from './split.ts'

/** Remembers of each session what no summary makes smaller, where that was too much. */
export interface Floors {
  /**
   * The skip where system prompt, tools and pinned facts alone take the room of a history, or these
   * and the pending input that of a request. It is the same one until its grounds have changed.
   */
  check(
    context: CompressContext,
    budget: Budget,
    pinned?: readonly PinnedFact[],
  ): CompressResult | undefined
}

interface Floor {
  readonly grounds: readonly unknown[]
  readonly skip: CompressResult
}

export function createFloors(): Floors {
  const floors = new WeakMap<Session, Floor>()
  return {
    check({ agent, trigger, pending }, budget, pinned = []) {
      // A person, and a request that was refused, get what can be had.
      if (trigger === 'manual' || trigger === 'overflow') return undefined
      const { session } = agent
      const grounds = groundsOf(session, budget)
      const known = floors.get(session)
      if (known?.grounds.every((ground, at) => ground === grounds[at])) return known.skip
      const parts = partsOf(session, pinned)
      const floor = parts.reduce((total, { tokens }) => total + tokens, 0)
      const input = { part: 'pending input', tokens: tokensOf(pending) }
      if (floor < budget.threshold && floor + input.tokens < budget.room) return undefined
      const contributors = [...parts, input].filter(({ tokens }) => tokens > 0)
      const details = { contributors }
      const skip: CompressResult = { outcome: 'skipped', reason: 'irreducible_floor', details }
      // What is pending enters with this step: the next one is another matter.
      if (floor >= budget.threshold) floors.set(session, { grounds, skip })
      return skip
    },
  }
}

/** While these are the same, so is the floor, but for facts that are new: they only raise it. */
function groundsOf(session: Session, { threshold }: Budget): readonly unknown[] {
  return [session.requestHeader, threshold, ...systemsOf(session)]
}

function systemsOf({ surface }: Session): readonly SurfaceEntry[] {
  return surface.filter(({ message }) => message.role === 'system')
}

function partsOf(session: Session, pinned: readonly PinnedFact[]) {
  const tools = session.requestHeader?.tools ?? []
  return [
    { part: 'system', tokens: tokensOf(systemsOf(session).map(({ message }) => message)) },
    { part: 'tools', tokens: tools.reduce((total, tool) => total + estimateTool(tool), 0) },
    {
      part: 'pinned facts',
      tokens: pinned.reduce((total, { text }) => total + estimateTokens(text), 0),
    },
  ]
}
