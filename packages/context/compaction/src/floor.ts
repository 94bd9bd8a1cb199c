import type { CompressContext, CompressResult } from '@cordage/core/compaction'
import { estimateTokens, estimateTool } from '@cordage/core/model'
import type { PinnedFact, Session, SurfaceEntry } from '@cordage/core/session'
import type { Budget } from './budget.ts'
import { tokensOf } from './split.ts'

/** Remembers of each session what no summary makes smaller, where that was too much. */
export interface Floors {
  /** The skip of a request whose floor is what it was when it was too high. */
  known(context: CompressContext, budget: Budget): CompressResult | undefined
  /** The skip where system prompt, tools and pinned facts alone take the room of a history. */
  check(
    context: CompressContext,
    budget: Budget,
    pinned: readonly PinnedFact[],
  ): CompressResult | undefined
}

interface Floor {
  readonly grounds: readonly unknown[]
  readonly skip: CompressResult
}

export function createFloors(): Floors {
  const floors = new WeakMap<Session, Floor>()
  return {
    known({ agent, trigger }, budget) {
      const { session } = agent
      const floor = asksForRoom(trigger) ? floors.get(session) : undefined
      const grounds = groundsOf(session, budget)
      const isSame = floor?.grounds.every((ground, at) => ground === grounds[at])
      return isSame ? floor?.skip : undefined
    },
    check({ agent, trigger, pending }, budget, pinned) {
      if (!asksForRoom(trigger)) return undefined
      const { session } = agent
      const parts = partsOf(session, pinned)
      const floor = parts.reduce((total, { tokens }) => total + tokens, 0)
      const input = { part: 'pending input', tokens: tokensOf(pending) }
      if (floor < budget.threshold && floor + input.tokens < budget.room) return undefined
      const contributors = [...parts, input].filter(({ tokens }) => tokens > 0)
      const skip: CompressResult = {
        outcome: 'skipped',
        reason: 'irreducible_floor',
        details: { contributors },
      }
      // What is pending enters with this step: the next one is another matter.
      if (floor >= budget.threshold)
        floors.set(session, { grounds: groundsOf(session, budget), skip })
      return skip
    },
  }
}

/** A person, and a request that was refused, get what can be had. */
function asksForRoom(trigger: CompressContext['trigger']): boolean {
  return trigger === 'pressure' || trigger === 'model-switch'
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
